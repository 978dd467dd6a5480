// The history: what was said is found, and sessions are put away and come back.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { says } from '../harness/provider.js';
import { accessible, noSidewaysScroll } from '../harness/axe.js';

const it = suite();

const items = (page) => page.locator('main').getByTestId('session-item');

it('what was said is found by words of any language, marked, and opened where it stands', async ({ chat, provider }) => {
  provider.on('发票', says('十一月的发票导出里没有合计行，请看文件末尾。'));
  provider.on('straw', says('Nothing but straw.'));
  const c = await chat();
  await c.open();
  await c.ask('看一下发票');
  const found = c.sessionID;
  await c.open();
  await c.ask('only straw');

  await c.page.goto(`${c.base}/history`);
  await c.page.getByTestId('session-search').fill('合计 发票');
  await c.page.getByTestId('session-search').press('Enter');
  await c.page.getByTestId('found').waitFor();
  assert.equal(await items(c.page).count(), 1);
  assert.deepEqual(await items(c.page).locator('mark').allTextContents(), ['发票', '合计', '发票']);
  await items(c.page).getByTestId('snippet').first().click();
  await c.page.waitForURL(new RegExp(`/s/${found}#p-`));
  assert.ok(await c.page.locator(':target').isVisible());
  assert.ok((await c.page.locator(':target').textContent()).includes('合计行'));

  for (const odd of ['"', "'; DROP TABLE messages; --", '100%_', 'NEAR(a b) OR *']) {
    await c.page.goto(`${c.base}/history?q=${encodeURIComponent(odd)}`);
    await c.page.getByTestId('nothing-found').waitFor();
  }
});

it('fifty sessions are archived at once, and all come back with Undo', async ({ app, visit }) => {
  for (let i = 0; i < 50; i++) await app.api('POST', '/sessions', { title: `Bulk ${i}` });
  const page = await visit();
  await page.goto(`${app.origin}/history?q=Bulk`);
  assert.equal(await items(page).count(), 50);
  await page.getByLabel('Select all').check();
  await page.getByTestId('bulk-archive').click();
  await page.getByTestId('notice').getByText('50 sessions archived').waitFor();
  const archived = async () => (await app.api('GET', '/sessions?archived=true&q=Bulk')).items.length;
  assert.equal(await archived(), 50);
  await page.getByTestId('undo').click();
  await page.getByTestId('notice').getByText('50 sessions restored').waitFor();
  assert.equal(await archived(), 0);
  await page.getByLabel('Select all').check();
  await page.getByTestId('bulk-delete').click();
  await page.getByText('Delete 50 sessions?').waitFor();
  assert.equal((await app.api('GET', '/sessions?q=Bulk')).items.length, 50);
  await page.getByTestId('delete-sessions').click();
  await page.getByTestId('nothing-found').waitFor();
});

it('a session is archived from the sidebar, pinned, renamed and restored', async ({ app, chat }) => {
  const session = await app.api('POST', '/sessions', { title: 'Put away' });
  const c = await chat();
  await c.open();
  const inSidebar = c.page.locator(`.rail [data-session="${session.id}"]`);
  await inSidebar.hover();
  await inSidebar.getByTestId('archive').click();
  await c.page.getByTestId('notice').waitFor();
  assert.equal(await inSidebar.count(), 0);
  assert.ok((await app.api('GET', `/sessions/${session.id}`)).archived);

  await c.page.goto(`${c.base}/history?archived=true`);
  const row = c.page.locator(`main [data-session="${session.id}"]`);
  await row.locator('[data-deed=restore]').click();
  await c.page.getByTestId('notice').waitFor();
  await c.page.goto(`${c.base}/history`);
  await row.locator('[data-deed=pin]').click();
  await row.locator('[data-deed=unpin]').waitFor();
  await row.locator('summary').click();
  await row.locator('input[name=title]').fill('Found again');
  await row.locator('input[name=title]').press('Enter');
  await row.getByText('Found again').first().waitFor();
  const now = await app.api('GET', `/sessions/${session.id}`);
  assert.deepEqual([now.title, now.pinned, now.archived], ['Found again', true, false]);
});

it('the keys reach the search, and Undo works without scripts', async ({ app, visit }) => {
  const session = await app.api('POST', '/sessions', { title: 'By keyboard' });
  const page = await visit();
  await page.goto(`${app.origin}/history`);
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'session-search');
  await page.keyboard.type('keyboard');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=keyboard/);
  assert.equal(await items(page).count(), 1);

  const plain = await visit({ javaScriptEnabled: false });
  await plain.goto(`${app.origin}/history?q=keyboard`);
  await plain.locator(`main [data-session="${session.id}"] [data-deed=archive]`).click();
  await plain.getByTestId('undo').click();
  await plain.getByTestId('notice').getByText('restored').waitFor();
  assert.equal((await app.api('GET', `/sessions/${session.id}`)).archived, false);
});

for (const width of [360, 1280]) {
  for (const theme of ['light', 'dark']) {
    it(`the history is for everybody at ${width} pixels, ${theme}`, async ({ app, visit }) => {
      const session = await app.api('POST', '/sessions', { title: 'Accessible' });
      await app.api('PATCH', `/sessions/${session.id}`, { archived: true });
      const page = await visit({ width, theme });
      for (const path of ['/history', '/history?q=Accessible', '/history?q=nothing&archived=false']) {
        await page.goto(app.origin + path);
        await accessible(page, path);
        await noSidewaysScroll(page, path);
      }
      await page.goto(`${app.origin}/history?q=Accessible`);
      const row = page.locator(`main [data-session="${session.id}"]`);
      await row.locator('summary').click();
      await accessible(page, 'a session that is renamed');
      await noSidewaysScroll(page, 'a session that is renamed');
      await row.locator('[data-deed=restore]').click();
      await page.getByTestId('notice').waitFor();
      await accessible(page, 'a notice with Undo');
      await row.locator('[data-deed=delete]').click();
      await page.getByTestId('delete-sessions').waitFor();
      await accessible(page, 'the question before a deletion');
      await noSidewaysScroll(page, 'the question before a deletion');
    });
  }
}

it('a session is exported, imported, and forked from a message', async ({ app, chat, provider }) => {
  provider.on('first of the forked', says('Answer one.'));
  provider.on('second of the forked', says('Answer two.'));
  const c = await chat();
  await c.open();
  await c.ask('first of the forked');
  await c.ask('second of the forked');
  const origin = c.sessionID;
  await c.page.locator('[aria-controls=session-menu]').click();
  const download = c.page.waitForEvent('download');
  await c.page.getByText('Export as JSON').click();
  const file = await (await download).path();
  assert.equal((await download).suggestedFilename(), 'offcut-first-of-the-forked.json');

  await c.answers.first().getByTestId('fork').click();
  await c.page.waitForURL((url) => !url.pathname.includes(origin));
  assert.equal(await c.answers.count(), 1);
  assert.equal(await c.text(), 'Answer one.');
  assert.equal(await c.page.locator('[data-fork-notice] a').getAttribute('href'), `/s/${origin}`);

  await c.page.goto(`${app.origin}/history`);
  await c.page.getByTestId('import-file').setInputFiles(file);
  await c.page.getByTestId('import').click();
  await c.page.waitForURL(/\/s\//);
  assert.equal(await c.answers.count(), 2);
  assert.equal(await c.text(), 'Answer two.');
  await c.ask('first of the forked, once more');
});

it('a link to a message far up in a long session leads to it', async ({ app, chat, provider }) => {
  provider.on('long session', says('Yes.'));
  const session = await app.session('long session 0');
  for (let i = 1; i < 35; i++) await app.say(session.id, `long session ${i}`);
  const [first] = await app.messages(session.id);
  const c = await chat();
  await c.page.goto(`${app.origin}/s/${session.id}#m-${first.id}`);
  await c.page.getByTestId('past').waitFor();
  assert.ok(await c.page.locator(`#m-${first.id}`).isVisible());
  await c.page.getByText('To the latest message').click();
  await c.composer.waitFor();
});

it('a title that comes by itself is seen in the lists of other tabs', async ({ app, chat, visit, provider }) => {
  provider.on('name this', says('Named.'));
  const session = await app.api('POST', '/sessions', {});
  const c = await chat();
  await c.open(session.id);
  const other = await visit({ beside: c.page });
  await other.goto(`${app.origin}/history`);
  await c.ask('name this by what it asks');
  await other.locator(`main [data-session="${session.id}"] h4 a`).filter({ hasText: 'name this by what it asks' }).waitFor();
});

it('the history is narrowed to a part and a time, by the address', async ({ app, chat, provider }) => {
  provider.on('needle', says('Hay alone.'));
  const c = await chat();
  await c.open();
  await c.ask('the needle in it');
  await app.api('POST', '/sessions', { title: 'Titled hay' });
  await c.page.goto(`${c.base}/history?q=hay`);
  assert.equal(await items(c.page).count(), 2);
  await c.page.getByLabel('Where to look').selectOption({ label: 'Titles' });
  await c.page.getByLabel('When').selectOption({ label: 'Last 7 days' });
  await c.page.getByRole('button', { name: 'Search', exact: true }).click();
  await c.page.waitForURL(/in=titles.*when=7d/);
  assert.equal(await items(c.page).count(), 1);
  await c.page.getByLabel('Where to look').selectOption({ label: 'Outputs' });
  await c.page.getByRole('button', { name: 'Search', exact: true }).click();
  await c.page.getByTestId('nothing-found').getByRole('link', { name: 'Everywhere and at any time' }).click();
  await c.page.waitForURL((url) => !url.searchParams.has('in') && !url.searchParams.has('when'));
  assert.equal(await items(c.page).count(), 2);
});

it('the server knows the time of day of who reads, once a script has told it', async ({ app, visit }) => {
  const session = await app.api('POST', '/sessions', { title: 'When was that' });
  const page = await visit({ timezoneId: 'Pacific/Kiritimati' });
  await page.goto(`${app.url}/history?q=When`);
  const shown = await page.locator(`main [data-session="${session.id}"] time`).textContent();
  const html = await (await page.request.get(page.url())).text();
  assert.equal(html.match(/data-moment[^>]*>([^<]+)</)[1], shown, 'it is said in another zone');
  assert.equal(shown, new Date(Date.parse(session.updated_at) + 14 * 3600e3).toISOString().slice(0, 16).replace('T', ' '));
});

it('an earlier version is found, says so, and is shown', async ({ app, chat, provider }) => {
  provider.on('first', says('The zebra answer.'));
  provider.on('second', says('Another one.'));
  const c = await chat();
  await c.open();
  await c.ask('first question');
  const { id } = (await app.api('GET', `/sessions/${c.sessionID}/messages`)).items[0];
  const { turn_id } = await app.api('POST', `/sessions/${c.sessionID}/messages/${id}/edit`, { content: 'second question' });
  await app.api('GET', `/turns/${turn_id}?wait=20`);
  for (const width of [1280, 360]) {
    await c.page.setViewportSize({ width, height: 800 });
    await c.page.goto(`${c.base}/history?q=zebra`);
    await c.page.getByTestId('snippet').waitFor();
    await accessible(c.page);
    await noSidewaysScroll(c.page);
  }
  await c.page.getByText('earlier version').waitFor();
  await c.page.getByTestId('snippet').click();
  await c.page.waitForURL(/#p-/);
  assert.ok((await c.page.locator(':target').textContent()).includes('zebra'));
});

it('a rename and another model are seen in another browser, also beside another session', async ({ app, chat, provider, visit }) => {
  provider.on('hello', says('Hello.'));
  const c = await chat();
  await c.open();
  await c.ask('hello one');
  const one = c.sessionID;
  const other = await chat();
  await other.open();
  await other.ask('hello two');
  await app.api('PATCH', `/sessions/${one}`, { title: 'Renamed elsewhere' });
  await other.page.locator('#sessions').getByText('Renamed elsewhere').waitFor();
  await c.page.locator('#title').getByText('Renamed elsewhere').waitFor();
  await app.api('PATCH', `/sessions/${one}`, { archived: true });
  await other.page.locator('#sessions').getByText('Renamed elsewhere').waitFor({ state: 'detached' });
});

it('a session is forked from a question', async ({ app, chat, provider }) => {
  provider.on('first', says('One.'));
  provider.on('second', says('Two.'));
  const c = await chat();
  await c.open();
  await c.ask('first question');
  await c.ask('second question');
  const from = c.sessionID;
  await c.page.locator('[data-role=user]').last().getByTestId('fork').click();
  await c.page.waitForURL((url) => /\/s\/ses_/.test(url.pathname) && !url.pathname.includes(from));
  const forked = new URL(c.page.url()).pathname.split('/').pop();
  const said = (await app.api('GET', `/sessions/${forked}/messages`)).items.map((m) => m.content);
  assert.deepEqual(said, ['first question', 'One.', 'second question']);
});

it('a title turns nothing around it, and can be seen', async ({ app, chat, provider }) => {
  provider.on('elab eteled', says('No.'));
  const refused = await app.request('POST', '/sessions', { title: 'a\u202eb' });
  assert.equal(refused.status, 422);
  const c = await chat();
  await c.open();
  await c.ask('\u202e\u2066elab eteled\u200b');
  const item = c.page.locator('[data-testid=session-item]:has([aria-current])');
  await item.filter({ hasText: 'elab eteled' }).waitFor();
  const shown = await item.innerText();
  assert.doesNotMatch(`${shown} ${await c.page.title()} ${await c.page.locator('#title').innerText()}`, /[\u202a-\u202e\u2066-\u2069]/);
});
