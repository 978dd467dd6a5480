// The administrator's pages: everybody's sessions and their deletion, the audit
// log, storage and refused requests.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { fails, gate, runs, says } from '../harness/provider.js';
import { accessible, noSidewaysScroll } from '../harness/axe.js';
import { eventually } from '../harness/eventually.js';

const it = suite();

/** A user with a token of their own, and a session of theirs. */
async function ownerOf(app, name, content) {
  await app.addUser(name);
  const token = await app.token(name);
  return { token, session: await app.session(content, token) };
}

const rowOf = (page, id) => page.locator(`[data-testid=admin-session-row][data-session="${id}"]`);

it('sessions are chosen and deleted with the keyboard alone', async ({ app, provider, visit, chat }) => {
  provider.on('to go', ...runs('seq 1 20000'));
  const { token, session } = await ownerOf(app, 'keyed', 'to go');
  const busy = await app.session(undefined, token);
  const hold = gate();
  provider.on('still busy', says('begun', { hold: { after: 1, gate: hold } }));
  await app.api('POST', `/sessions/${busy.id}/messages`, { content: 'still busy' }, token);
  await eventually(() => provider.sent('still busy').length > 0, 'the answer is not begun');
  const kept = await app.session(undefined, token);

  const watcher = await chat({ as: 'keyed' });
  await watcher.open(session.id);
  const page = await visit();
  await page.goto(`${app.url}/admin/sessions?owner=keyed`);
  assert.equal(await page.getByTestId('admin-session-row').count(), 3);
  assert.ok(await page.getByTestId('admin-delete').isDisabled(), 'nothing is chosen');

  for (const id of [session.id, busy.id]) {
    await rowOf(page, id).getByRole('checkbox').focus();
    await page.keyboard.press('Space');
  }
  await page.getByText(/2 selected · owners: 1 · kept outputs: 1/).waitFor();
  await page.getByTestId('admin-delete').focus();
  await page.keyboard.press('Enter');
  const dialog = page.locator('#dlg-sessions');
  await dialog.getByRole('heading', { name: 'Delete 2 sessions for good?' }).waitFor();
  assert.match(await dialog.innerText(), /Messages\s+[56]\s+Kept outputs\s+1/);
  assert.match(await dialog.innerText(), /In 1 of them an answer is being written/);
  await accessible(page, 'the dialog that asks');

  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  assert.equal((await app.request('GET', `/sessions/${session.id}`)).status, 200, 'Escape deletes nothing');

  await page.getByTestId('admin-delete').first().focus();
  await page.keyboard.press('Enter');
  await dialog.waitFor();
  await eventually(() => page.evaluate(() => document.activeElement.innerText === 'Keep them'), 'the safe answer is first');
  await page.keyboard.press('Tab');
  await eventually(() => page.evaluate(() => document.activeElement.innerText === 'Delete 2 sessions'), 'and then the deed');
  await page.keyboard.press('Enter');
  await page.getByTestId('admin-deleted').filter({ hasText: '2 sessions were deleted.' }).waitFor();
  assert.equal(await page.getByTestId('admin-session-row').count(), 1);
  assert.equal(await page.locator('[name=owner]').inputValue(), 'keyed', 'the filter stays');
  for (const { id } of [session, busy]) assert.equal((await app.request('GET', `/sessions/${id}`)).status, 404);
  assert.equal((await app.request('GET', `/sessions/${kept.id}`)).status, 200);
  await watcher.page.getByText('This session was deleted by an administrator.').first().waitFor();
  hold.open();
});

it('all on the page are chosen at once, and the list is sorted', async ({ app, provider, visit }) => {
  provider.on('a large one', ...runs('seq 1 50000'));
  const { token, session } = await ownerOf(app, 'sorted', 'a large one');
  await app.session(undefined, token);
  const page = await visit();
  await page.goto(`${app.url}/admin/sessions?owner=sorted`);
  await page.getByRole('link', { name: 'Their size' }).click();
  await page.locator('th[aria-sort=descending]').filter({ hasText: 'Their size' }).waitFor();
  assert.equal(await page.getByTestId('admin-session-row').first().getAttribute('data-session'), session.id);
  await page.getByRole('link', { name: 'Their size' }).click();
  await page.locator('th[aria-sort=ascending]').waitFor();
  assert.equal(await page.getByTestId('admin-session-row').last().getAttribute('data-session'), session.id);
  await page.getByLabel('Select all on this page').check();
  await page.getByText(/^2 selected/).waitFor();
  await rowOf(page, session.id).getByRole('checkbox').uncheck();
  await page.getByText(/^1 selected/).waitFor();
});

it('a session of somebody else is read from the list, and that is audited', async ({ app, provider, visit }) => {
  provider.on('read by others', says('A plain answer.'));
  const { session } = await ownerOf(app, 'readme', 'read by others');
  const page = await visit();
  await page.goto(`${app.url}/admin/sessions?owner=readme`);
  await rowOf(page, session.id).getByRole('link').click();
  await page.getByTestId('read-only').waitFor();
  await page.goto(`${app.url}/admin/audit?action=session.view&target=${session.id}`);
  assert.equal(await page.getByTestId('audit-row').count(), 1);
  await page.locator('[aria-controls=user-menu]').click();
  await page.getByTestId('admin-link').waitFor();
});

it('a user is shown none of it', async ({ app, visit }) => {
  await app.addUser('plain');
  const page = await visit({ as: 'plain' });
  for (const path of ['sessions', 'audit', 'storage', 'dumps']) {
    const answer = await page.goto(`${app.url}/admin/${path}`);
    assert.equal(answer.status(), 403, path);
  }
  await page.goto(app.url);
  await page.locator('[aria-controls=user-menu]').click();
  assert.equal(await page.getByTestId('admin-link').count(), 0);
}, { allow: [/403/] });

it('without scripts a page asks before a deletion', async ({ app, visit }) => {
  const { session } = await ownerOf(app, 'noscript');
  const page = await visit({ javaScriptEnabled: false });
  await page.goto(`${app.url}/admin/sessions?owner=noscript`);
  await rowOf(page, session.id).getByRole('checkbox').check();
  await page.getByTestId('admin-delete').click();
  await page.getByRole('heading', { name: 'Delete 1 session for good?' }).waitFor();
  await page.getByTestId('admin-delete').click();
  await page.getByTestId('admin-deleted').waitFor();
  assert.equal((await app.request('GET', `/sessions/${session.id}`)).status, 404);
});

it('a refused request leads from the answer to its file', async ({ app, provider, chat }) => {
  provider.on('refuse this', fails(400, 'The field “frobnicate” is unknown to e2e-key.'));
  const session = await app.session('refuse this');
  const c = await chat();
  await c.open(session.id);
  await c.page.getByTestId('turn-error').getByText('Details').click();
  await c.page.getByTestId('turn-dump').click();
  const text = await c.page.getByTestId('dump-text').innerText();
  assert.match(text, /refuse this/);
  assert.match(text, /frobnicate/);
  assert.doesNotMatch(text, /e2e-key/);
  await c.page.goto(`${app.url}/admin/dumps`);
  await c.page.getByTestId('dump-row').filter({ hasText: session.id }).waitFor();
});

for (const width of [360, 1280]) {
  for (const theme of ['light', 'dark']) {
    it(`every page is accessible, ${theme} and ${width} wide`, async ({ app, visit }) => {
      if ((await app.api('GET', '/sessions?limit=1')).items.length === 0) await app.session();
      const page = await visit({ width, theme });
      for (const path of ['sessions', 'audit', 'storage', 'dumps', 'sessions?owner=nobody']) {
        await page.goto(`${app.url}/admin/${path}`);
        await page.locator('h1').waitFor();
        await accessible(page, `/admin/${path}`);
        await noSidewaysScroll(page, `/admin/${path}`);
      }
      if (width === 360) {
        await page.locator('.head [data-drawer]').click();
        await eventually(() => page.getByRole('link', { name: 'Audit log' }).isVisible(), 'the drawer does not open');
        await accessible(page, 'the drawer of the admin’s pages');
      }
    });
  }
}
