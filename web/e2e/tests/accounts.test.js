// People and their accounts: what one chooses for oneself, what an administrator
// does with users, and what a hidden tab tells.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from '../harness/suite.js';
import { calls, gate, runs, says } from '../harness/provider.js';
import { accessible, noSidewaysScroll } from '../harness/axe.js';
import { password } from '../harness/offcut.js';
import { eventually } from '../harness/eventually.js';
import { hideTab, notices, showTab } from '../harness/hidden.js';

// A second model to choose; nothing ever answers there.
const config = join(mkdtempSync(join(tmpdir(), 'offcut-e2e-config-')), 'offcut.yaml');
writeFileSync(config, 'models:\n  - name: second-model\n    baseURL: http://127.0.0.1:9/v1\n    price: {input: 3, output: 15}\n');

const it = suite({ env: { OFFCUT_CONFIG: config } });

const looks = [
  { width: 1280, theme: 'light' }, { width: 1280, theme: 'dark' },
  { width: 360, theme: 'light' }, { width: 360, theme: 'dark' },
];

for (const look of looks) {
  it(`the pages of accounts, users and usage: ${look.width} px, ${look.theme}`, async ({ app, provider, visit }) => {
    provider.on('some usage', says('Used.'));
    await app.session('some usage');
    const page = await visit(look);
    for (const path of ['/account', '/settings', '/admin/users', '/admin/usage', '/admin/usage?by=month']) {
      await page.goto(app.url + path);
      await accessible(page, path);
      await noSidewaysScroll(page, path);
    }
    await page.goto(`${app.url}/admin/users`);
    await page.getByTestId('user-add').locator('[name=name]').fill(`new-${look.width}-${look.theme}`);
    await page.keyboard.press('Enter');
    await page.getByTestId('sign-in-link').waitFor();
    await accessible(page, 'a new user with a link');
    await noSidewaysScroll(page, 'a new user with a link');
    await page.goto(`${app.url}/account`);
    await page.getByTestId('token-form').locator('[name=name]').fill('nightly job');
    await page.keyboard.press('Enter');
    await page.getByTestId('new-token').waitFor();
    await accessible(page, 'a new token');
    await noSidewaysScroll(page, 'a new token');
  });
}

it('the way to account and settings is in the user menu, by keyboard', async ({ chat }) => {
  const c = await chat();
  await c.open();
  await c.page.locator('button.who').focus();
  await c.page.keyboard.press('Enter');
  await c.page.getByTestId('account-link').waitFor();
  for (let i = 0; i < 8 && !(await c.page.getByTestId('settings-link').evaluate((a) => a === document.activeElement)); i += 1) {
    await c.page.keyboard.press('Tab');
  }
  await c.page.keyboard.press('Enter');
  await c.page.getByTestId('settings-form').waitFor();
  assert.match(new URL(c.page.url()).pathname, /\/settings$/);
});

it('settings are stored and hold in another browser', async ({ app, visit }) => {
  await app.addUser('sora');
  const page = await visit({ as: 'sora' });
  await page.goto(`${app.url}/settings`);
  await page.selectOption('select[name=theme]', 'dark');
  await page.selectOption('[name=preview_lines]', '10');
  await page.getByTestId('settings-form').getByRole('button').click();
  await page.getByTestId('form-done').waitFor();
  const other = await visit({ as: 'sora' });
  await other.goto(`${app.url}/settings`);
  assert.equal(await other.evaluate(() => document.documentElement.dataset.theme), 'dark');
  assert.equal(await other.locator('[name=preview_lines]').inputValue(), '10');
});

it('outputs are closed, or open with ten or fifty lines, and fold all the same', async ({ app, provider, chat, visit }) => {
  provider.on('many lines', ...runs('seq 1 300'));
  await app.addUser('liam');
  const session = await app.session('many lines', await app.token('liam'));
  const settings = await visit({ as: 'liam' });
  const c = await chat({ as: 'liam' });
  const heights = [];
  for (const lines of ['0', '10', '50']) {
    await settings.goto(`${app.url}/settings`);
    await settings.selectOption('[name=preview_lines]', lines);
    await settings.getByTestId('settings-form').getByRole('button').click();
    await settings.getByTestId('form-done').waitFor();
    await c.open(session.id);
    const head = c.card.locator('[data-fold]');
    assert.equal(await head.getAttribute('aria-expanded'), String(lines !== '0'));
    if (lines === '0') continue;
    await c.preview.first().waitFor();
    heights.push(await c.preview.first().evaluate((node) => node.clientHeight));
    await head.click();
    await c.preview.first().waitFor({ state: 'hidden' });
    await head.click();
    await c.preview.first().waitFor();
  }
  assert.ok(heights[0] >= 190 && heights[0] <= 220, `ten lines are ${heights[0]} px high`);
  assert.ok(heights[1] > 4 * heights[0], `fifty lines are ${heights[1]} px high`);
  await c.ask('many lines'); // and so while one watches
  assert.equal(await c.card.locator('[data-fold]').getAttribute('aria-expanded'), 'true');
  await c.preview.first().waitFor();
});

it('settings name the skills of the server, and what is wrong with one', async ({ app, visit }) => {
  const place = (name, text) => {
    const folder = join(app.env.OFFCUT_DATA_DIR, 'skills', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'SKILL.md'), text);
  };
  place('count-rows', '---\nname: count-rows\ndescription: Counts the <b>rows</b> of a table.\n---\n\nRun it.\n');
  place('half-done', 'no front matter');
  const page = await visit();
  await page.goto(`${app.url}/settings`);
  const skills = page.getByTestId('settings-skills').getByRole('listitem');
  await skills.filter({ hasText: 'count-rows' }).filter({ hasText: 'Counts the <b>rows</b> of a table.' }).waitFor();
  const broken = skills.filter({ hasText: 'half-done' });
  assert.match(await broken.innerText(), /front matter/);
  assert.equal(await broken.locator('[data-broken]').count(), 1);
  await accessible(page, 'settings with skills');
  await noSidewaysScroll(page, 'settings with skills');
});

it('a password is changed, and another browser is signed out', async ({ app, visit }) => {
  await app.addUser('pia');
  const page = await visit({ as: 'pia' });
  const other = await visit({ as: null });
  await other.goto(`${app.url}/login`);
  await other.fill('[name=name]', 'pia');
  await other.fill('[name=password]', password);
  await other.press('[name=password]', 'Enter');
  await other.getByTestId('composer').waitFor();
  await page.goto(`${app.url}/account`);
  const form = page.getByTestId('password-form');
  await form.locator('[name=old]').fill('not the password');
  for (const name of ['new', 'again']) await form.locator(`[name=${name}]`).fill('a much better password');
  await page.keyboard.press('Enter');
  await page.getByTestId('form-problem').filter({ hasText: 'old password is wrong' }).waitFor();
  await form.locator('[name=old]').fill(password);
  for (const name of ['new', 'again']) await form.locator(`[name=${name}]`).fill('a much better password');
  await page.keyboard.press('Enter');
  await page.getByTestId('form-done').waitFor();
  await other.goto(`${app.url}/account`);
  assert.match(new URL(other.url()).pathname, /\/login$/);
}, { allow: [/status of 422/] });

it('a refused sign-in link leaves the address, and one comes to the page asked for', async ({ app, visit }) => {
  await app.addUser('quin');
  const session = await app.api('POST', '/sessions', { title: 'Asked for' }, await app.token('quin'));
  const page = await visit({ as: null });
  await page.goto(`${app.url}/login?token=never-was-one&next=/s/${session.id}`);
  await page.getByRole('alert').first().waitFor();
  assert.ok(!page.url().includes('token'), page.url());
  await page.fill('[name=name]', 'quin');
  await page.fill('[name=password]', password);
  await page.press('[name=password]', 'Enter');
  await page.waitForURL(`**/s/${session.id}`);
});

it('the model is chosen for a new chat and for a session, at once', async ({ app, provider, chat }) => {
  provider.on('with the first model', says('Here.'));
  const c = await chat();
  await c.open();
  const picker = c.page.getByTestId('model-picker');
  assert.equal(await picker.inputValue(), 'scripted');
  await c.ask('with the first model');
  await picker.selectOption('second-model');
  await eventually(async () => (await app.api('GET', `/sessions/${c.sessionID}`)).model === 'second-model', 'the choice does not arrive');
  await c.page.locator('#model-name').filter({ hasText: 'second-model' }).waitFor({ state: 'attached' });
  await c.page.reload();
  assert.equal(await picker.inputValue(), 'second-model');
  await c.open();
  await picker.selectOption('second-model');
  await c.say('with the second model');
  assert.equal((await app.api('GET', `/sessions/${c.sessionID}`)).model, 'second-model');
  await c.stop.click();
});

it('an administrator adds, disables and resets a user, whose open page is closed', async ({ app, chat, visit }) => {
  await app.addUser('dora');
  const session = await app.api('POST', '/sessions', { title: 'Hers' }, await app.token('dora'));
  const dora = await chat({ as: 'dora' });
  await dora.open(session.id);
  const admin = await visit();
  await admin.goto(`${app.url}/admin/users`);
  await admin.locator('[data-testid=user-row][data-user=dora] a').click();
  const began = Date.now();
  await admin.getByTestId('user-set-state').getByRole('button').click();
  await admin.getByTestId('user-state').filter({ hasText: 'disabled' }).waitFor();
  await dora.page.locator('#offbar').filter({ hasText: /sign/i }).waitFor();
  assert.ok(Date.now() - began < 8000, `it took ${Date.now() - began} ms`);
  await admin.getByTestId('user-set-state').getByRole('button').click();
  await admin.getByTestId('user-reset').getByRole('button').click();
  const link = await admin.getByTestId('sign-in-link').textContent();
  const fresh = await visit({ as: null });
  await fresh.goto(link);
  await fresh.goto(`${app.url}/s/${session.id}`);
  await fresh.locator('h1').filter({ hasText: 'Hers' }).waitFor();
});

it('a hidden tab tells by its title, icon and a notice that an answer has ended', async ({ app, provider, chat, visit }) => {
  await app.addUser('noor');
  const session = await app.api('POST', '/sessions', { title: 'Long work' }, await app.token('noor'));
  const c = await chat({ as: 'noor' });
  for (const [wanted, count] of [[false, 0], [true, 1]]) {
    const settings = await visit({ as: 'noor', permissions: ['notifications'] });
    await settings.goto(`${app.url}/settings`);
    await settings.locator('[name=notify]').setChecked(wanted);
    await settings.getByTestId('settings-form').getByRole('button').click();
    await settings.getByTestId('form-done').waitFor();

    const end = gate();
    provider.on(`work ${count}`, says('', { chunks: ['Working', ' and done.'], hold: { after: 1, gate: end } }));
    await c.open(session.id);
    await c.say(`work ${count}`);
    await c.shows('Working');
    await c.page.waitForFunction(() => document.title.startsWith('● Long work'));
    assert.match(await c.page.locator('link[rel=icon]').getAttribute('href'), /favicon-busy/);
    await hideTab(c.page);
    end.open();
    await c.page.waitForFunction(() => document.title.startsWith('✓ Long work'));
    assert.doesNotMatch(await c.page.locator('link[rel=icon]').getAttribute('href'), /favicon-busy/);
    assert.deepEqual(await notices(c.page), Array(count).fill('Long work · Offcut: The answer is there.'));
    await showTab(c.page);
    assert.match(await c.page.title(), /^Long work/);
  }
});

it('where the browser allows no notices the setting says so', async ({ app, visit }) => {
  const page = await visit();
  await page.goto(`${app.url}/settings`);
  await page.evaluate(() => { Notification.requestPermission = async () => 'denied'; });
  await page.locator('[name=notify]').click();
  await page.locator('#notify-hint').filter({ hasText: 'does not allow' }).waitFor();
  assert.equal(await page.locator('[name=notify]').isChecked(), false);
});

it('what a session has used stands in its details', async ({ app, provider, chat }) => {
  provider.on('count the tokens', calls(['run_command', { command: 'true' }]), says('Counted.'));
  const session = await app.session('count the tokens');
  const c = await chat();
  await c.open(session.id);
  assert.match(await c.answer.locator('.acts').textContent(), /240 tokens/);
  await c.page.locator('[aria-controls=session-menu]').click();
  await c.page.getByTestId('session-details-open').click();
  await c.page.getByTestId('session-details').filter({ hasText: '200' }).waitFor();
  await accessible(c.page, 'the details');
});
