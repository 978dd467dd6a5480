// What one does with a session besides talking in it.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { gate, runs, says } from '../harness/provider.js';
import { eventually } from '../harness/eventually.js';

const it = suite();

/** Opens the session's menu and chooses from it. */
async function choose(c, entry) {
  await c.page.locator('[aria-controls=session-menu]').click();
  await c.page.locator(`#session-menu ${entry}`).click();
}

it('a session is renamed, in the head, the list and the window', async ({ app, chat }) => {
  const session = await app.api('POST', '/sessions', { title: 'Old name' });
  const c = await chat();
  await c.open(session.id);
  await choose(c, '[data-dialog=dlg-rename]');
  await c.page.locator('#dlg-rename [name=title]').fill('A better name');
  await c.page.keyboard.press('Enter');
  await c.page.locator('h1').filter({ hasText: 'A better name' }).waitFor();
  await c.page.getByTestId('session-item').filter({ hasText: 'A better name' }).waitFor();
  await c.page.waitForFunction(() => document.title.includes('A better name'));
  assert.equal((await app.api('GET', `/sessions/${session.id}`)).title, 'A better name');
});

it('the arrows go through a menu, and Escape leads back to its button', async ({ app, chat }) => {
  const session = await app.api('POST', '/sessions', { title: 'By arrows' });
  const c = await chat();
  await c.open(session.id);
  const focused = (text) => eventually(() => c.page.evaluate((words) => document.activeElement.textContent.trim() === words, text),
    async () => `the focus is on ${await c.page.evaluate(() => document.activeElement.textContent.trim())}, not on ${text}`);
  const button = c.page.locator('[aria-controls=session-menu]');
  const menu = c.page.locator('#session-menu');
  await button.focus();
  await c.page.keyboard.press('ArrowDown');
  await focused('Rename');
  await c.page.keyboard.press('ArrowUp');
  const last = (await menu.locator('a, button').last().textContent()).trim();
  await focused(last);
  await c.page.keyboard.press('ArrowDown');
  await focused('Rename');
  await c.page.keyboard.press('End');
  await focused(last);
  await c.page.keyboard.press('Home');
  await focused('Rename');
  await c.page.keyboard.press('Escape');
  await menu.waitFor({ state: 'hidden' });
  await eventually(() => button.evaluate((node) => node === document.activeElement), 'the focus does not come back');
  await c.page.keyboard.press('Enter');
  await focused('Rename');
  await c.page.keyboard.press('Shift+Tab');
  await c.page.keyboard.press('Shift+Tab');
  await menu.waitFor({ state: 'hidden' });
});

it('the list of sessions is hidden and shown without losing the focus', async ({ chat }) => {
  const c = await chat();
  await c.open();
  await c.page.getByTestId('session-search').focus();
  await c.page.keyboard.press('Control+Shift+S');
  await eventually(() => c.page.locator('.head [data-drawer]').evaluate((node) => node === document.activeElement), 'the focus is lost');
  await c.page.keyboard.press('Enter');
  await c.page.getByTestId('session-search').waitFor();
  await eventually(() => c.page.evaluate(() => Boolean(document.activeElement.closest('.rail'))), 'the focus does not come back');
});

it('a fork has the messages and goes its own way', async ({ app, chat, provider }) => {
  provider.on('before the fork', says('Common ground.'));
  provider.on('only in the fork', says('Apart.'));
  const session = await app.session('before the fork');
  const c = await chat();
  await c.open(session.id);
  await choose(c, '[data-testid=fork-session]');
  await c.page.waitForURL((url) => url.pathname.includes('/s/') && !url.pathname.includes(session.id));
  assert.equal(await c.text(), 'Common ground.');
  await c.ask('only in the fork');
  assert.equal(await c.text(), 'Apart.');
  assert.equal((await app.messages(session.id)).length, 2);
});

it('a session is deleted after a dialog that says what goes', async ({ app, chat, provider }) => {
  provider.on('to be deleted', ...runs('seq 1 20000'));
  const session = await app.session('to be deleted');
  const c = await chat();
  await c.open(session.id);
  await choose(c, '[data-dialog=dlg-delete]');
  const dialog = c.page.locator('#dlg-delete');
  assert.match(await dialog.innerText(), /to be deleted/);
  await dialog.locator('.goes', { hasText: /Messages\s*4\s*Kept outputs\s*1/ }).waitFor();
  await dialog.getByRole('button', { name: /cancel/i }).click();
  await dialog.waitFor({ state: 'hidden' });
  await choose(c, '[data-dialog=dlg-delete]');
  await dialog.getByTestId('delete-session').click();
  await c.page.waitForURL((url) => !url.pathname.includes(session.id));
  assert.equal((await app.request('GET', `/sessions/${session.id}`)).status, 404);
  assert.equal(await c.page.locator(`[data-testid=session-item] a[href*="${session.id}"]`).count(), 0);
});

it('the list is searched by title, and says so where nothing is found', async ({ app, chat }) => {
  await app.api('POST', '/sessions', { title: 'Needle in the hay' });
  await app.api('POST', '/sessions', { title: 'Only straw' });
  const c = await chat();
  await c.open();
  const search = c.page.getByTestId('session-search');
  await search.fill('needle');
  await eventually(async () => {
    const items = await c.page.getByTestId('session-item').allTextContents();
    return items.length === 1 && items[0].includes('Needle');
  }, 'the list still shows other sessions');
  await search.fill('nothing like it');
  await c.page.locator('#sessions').getByText('nothing like it').waitFor();
});

it('a queued message can be removed before it is sent', async ({ chat, provider }) => {
  const middle = gate();
  provider.on('keep working', says('', { chunks: ['Working'], hold: { after: 1, gate: middle } }));
  const c = await chat();
  await c.open();
  await c.say('keep working');
  await c.shows('Working');
  await c.say('never mind this one');
  const queued = c.page.locator('[data-testid=message][data-state=queued]');
  await queued.getByTestId('unqueue').click();
  await queued.waitFor({ state: 'detached' });
  middle.open();
  await c.settled();
  await c.page.waitForTimeout(500);
  assert.equal(provider.sent('never mind this one').length, 0);
});
