// Each state of the pages, light and dark, wide and narrow, in both languages: axe finds nothing, nothing scrolls
// sideways, nothing offends the content security policy.

import assert from 'node:assert/strict';
import { sends, suite } from '../harness/suite.js';
import { calls, fails, gate, runs, says } from '../harness/provider.js';
import { accessible, noSidewaysScroll } from '../harness/axe.js';
import { Pager } from '../harness/chat.js';

const it = suite();

const looks = [
  { width: 1280, theme: 'light' }, { width: 1280, theme: 'dark' },
  { width: 360, theme: 'light' }, { width: 360, theme: 'dark' },
  { width: 1280, theme: 'light', locale: 'zh-CN' }, { width: 360, theme: 'dark', locale: 'zh-CN' },
];

let made;

/** A session that holds one of everything, made once. */
function everything(app, provider) {
  made ??= make(app, provider);
  return made;
}

async function make(app, provider) {
  provider.on('show a bit of everything', calls(
    ['run_command', { command: "printf '\\033[32mgreen\\033[0m and \\033[31mred\\033[0m\\n'; exit 3" }],
    ['write_file', { path: 'notes.txt', content: 'one\ntwo\n' }],
  ), says('# A title\n\nText with `code`, a [link](https://example.org/) and\n\n```go\nfunc main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- a list\n- of two\n'));
  provider.on('a long output please', ...runs('seq 1 200000'));
  provider.on('an output over all limits', ...runs('seq 1 2000000'));
  provider.on('be refused', fails(400, 'The provider does not want to.'));
  const session = await app.session('show a bit of everything');
  await app.say(session.id, 'a long output please');
  await app.say(session.id, 'an output over all limits');
  await app.say(session.id, 'be refused');
  return session;
}

async function sound(page, what) {
  await accessible(page, what);
  await noSidewaysScroll(page, what);
}

for (const look of looks) {
  const named = `${look.width} px, ${look.theme}${look.locale ? `, ${look.locale}` : ''}`;

  it(`sign-in, also refused: ${named}`, async ({ app, visit }) => {
    const page = await visit({ as: null, ...look });
    await page.goto(`${app.url}/login`);
    await sound(page, 'sign-in');
    await page.fill('[name=name]', `nobody-${look.width}-${look.locale ?? 'en'}`);
    await page.fill('[name=password]', 'wrong password');
    await page.press('[name=password]', 'Enter');
    await page.getByRole('alert').first().waitFor();
    await sound(page, 'sign-in, refused');
  }, { allow: [/status of 4\d\d/] });

  it(`the empty page, its menus and the drawer: ${named}`, async ({ chat }) => {
    const c = await chat(look);
    await c.open();
    await sound(c.page, 'empty');
    if (look.width < 960) {
      await c.page.locator('[data-drawer]:visible').first().click();
      await c.page.getByTestId('new-session').first().waitFor();
      await sound(c.page, 'drawer');
    }
    await c.page.locator('button.who').click();
    await c.page.locator('#user-menu').waitFor();
    await sound(c.page, 'user menu');
    await c.page.locator('#user-menu [data-dialog=keys]').click();
    await c.page.getByRole('dialog').waitFor();
    await sound(c.page, 'shortcuts');
  });

  it(`a session with everything in it, unfolded: ${named}`, async ({ app, provider, chat }) => {
    const session = await everything(app, provider);
    const c = await chat(look);
    await c.open(session.id);
    await sound(c.page, 'session');
    for (const card of await c.cards.all()) await c.unfold(card);
    await c.openPager(c.cards.nth(2));
    await sound(c.page, 'session, cards unfolded');
    for (const dialog of ['dlg-rename', 'dlg-delete']) {
      await c.page.locator('[aria-controls=session-menu]').click();
      await c.page.locator('#session-menu').waitFor();
      await sound(c.page, 'session menu');
      await c.page.locator(`[data-dialog=${dialog}]`).click();
      await c.page.locator(`#${dialog}`).waitFor();
      await sound(c.page, dialog);
      await c.page.keyboard.press('Escape');
      await c.page.locator(`#${dialog}`).waitFor({ state: 'hidden' });
    }
  });

  it(`an answer and a command in mid-stream: ${named}`, async ({ app, provider, chat }) => {
    const middle = gate();
    provider.on('halt in the middle', says('', { chunks: ['A paragraph.\n\n', 'Half a'], hold: { after: 2, gate: middle } }));
    provider.on('run for a while', ...runs('echo working; sleep 4'));
    const c = await chat(look);
    await c.open();
    await c.say('halt in the middle');
    await c.shows('Half a');
    await c.say('queued meanwhile');
    await c.page.locator('[data-state=queued]').first().waitFor();
    await sound(c.page, 'mid-stream');
    middle.open();
    await c.settled('done', 2);
    await c.say('run for a while');
    await c.live.getByText('working').waitFor();
    await sound(c.page, 'a command runs');
    await c.settled('done', 3);
  });

  it(`a kept output on its own page, found and not found: ${named}`, async ({ app, provider, visit }) => {
    const session = await everything(app, provider);
    const outputs = await app.outputs(session.id);
    const complete = outputs.find((output) => output.complete);
    const incomplete = outputs.find((output) => !output.complete);
    const page = await visit(look);
    await page.goto(`${app.url}/s/${session.id}/out/${complete.id}?q=1999`);
    await sound(page, 'first page of a complete copy, with hits');
    await page.goto(`${app.url}/s/${session.id}/out/${incomplete.id}`);
    const pager = new Pager(page);
    await pager.turn(() => pager.last.click());
    await sound(page, 'last page of an incomplete copy');
    await page.goto(`${app.url}/s/${session.id}/out/out_nothing`);
    await sound(page, 'output, not found');
    await page.goto(`${app.url}/s/ses_nothing`);
    await sound(page, 'session, not found');
  }, { allow: [/status of 404/] });
}

it('the theme that was chosen stays', async ({ chat }) => {
  const c = await chat({ theme: 'light' });
  await c.open();
  const scheme = () => c.page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
  await c.page.locator('button.who').click();
  await sends(c.page, () => c.page.locator('#user-menu [name=theme][value=dark]').click());
  await c.page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  await c.page.reload();
  assert.match(await scheme(), /dark/);
});

it('every page is served with the strict policy and no inline script or style', async ({ app, provider, visit }) => {
  const session = await everything(app, provider);
  const page = await visit();
  for (const path of ['/login', '/', `/s/${session.id}`]) {
    const answer = await page.goto(app.url + path);
    const policy = answer.headers()['content-security-policy'] ?? '';
    assert.match(policy, /default-src 'none'/, path);
    assert.ok(!/unsafe-inline|unsafe-eval/.test(policy), `${path}: ${policy}`);
    assert.equal(answer.headers()['x-content-type-options'], 'nosniff');
    assert.match(answer.headers()['referrer-policy'] ?? '', /no-referrer|same-origin/);
    const html = await answer.text();
    assert.ok(!/<script(?![^>]*\bsrc=)[^>]*>|\sstyle="|\son\w+="/.test(html), `${path} has inline script or style`);
  }
});
