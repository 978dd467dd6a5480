import assert from 'node:assert/strict';
import { test } from 'node:test';
import { suite, signIn } from '../harness/suite.js';
import { adminToken, Offcut, password } from '../harness/offcut.js';
import { eventually } from '../harness/eventually.js';

const it = suite();

it('the admin token signs in and leaves the address', async ({ app, visit }) => {
  const page = await visit({ as: null });
  await page.goto(`${app.url}/login?token=${adminToken}`);
  await page.getByTestId('composer').waitFor();
  assert.ok(!page.url().includes('token'), page.url());
  assert.ok(!app.log.includes(adminToken), 'the token is in the log');
});

it('somebody who is not signed in is led to the sign-in page and back', async ({ app, visit }) => {
  await app.addUser('mara');
  const token = await app.token('mara');
  const session = await app.api('POST', '/sessions', { title: 'Led back' }, token);
  const page = await visit({ as: null });
  await page.goto(`${app.url}/s/${session.id}`);
  assert.match(new URL(page.url()).pathname, /\/login$/);
  await page.fill('[name=name]', 'mara');
  await page.fill('[name=password]', password);
  await page.press('[name=password]', 'Enter');
  await page.waitForURL(`**/s/${session.id}`);
});

it('a wrong password is refused with a sentence and signs nobody in', async ({ app, visit }) => {
  await app.addUser('nils');
  const page = await visit({ as: null });
  await page.goto(`${app.url}/login`);
  await page.fill('[name=name]', 'nils');
  await page.fill('[name=password]', 'not the password');
  await page.press('[name=password]', 'Enter');
  await page.getByRole('alert').filter({ hasText: /wrong/i }).waitFor();
  await page.goto(`${app.url}/`);
  assert.match(new URL(page.url()).pathname, /\/login$/);
}, { allow: [/status of (401|403|422)/] });

it('after many wrong passwords even the right one has to wait', async ({ app, visit }) => {
  await app.addUser('olga');
  const page = await visit({ as: null });
  let status = 0;
  for (let tries = 0; tries < 20 && status !== 429; tries += 1) {
    await page.goto(`${app.url}/login`);
    await page.fill('[name=name]', 'olga');
    await page.fill('[name=password]', `guess number ${tries}`);
    const [answer] = await Promise.all([
      page.waitForResponse((r) => r.request().method() === 'POST' && r.url().includes('/login')),
      page.press('[name=password]', 'Enter'),
    ]);
    status = answer.status();
  }
  assert.equal(status, 429, 'twenty wrong passwords are never limited');
  await page.getByRole('alert').first().waitFor();
}, { allow: [/status of (401|403|422|429)/] });

it('signing out ends the session of the browser', async ({ app, visit }) => {
  const page = await visit({ as: null });
  await signIn(page, app.url);
  await page.locator('button.who').click();
  await page.getByTestId('sign-out').click();
  await page.waitForURL('**/login');
  await page.goto(`${app.url}/`);
  assert.match(new URL(page.url()).pathname, /\/login$/);
});

it('another user finds nothing of a session that is not theirs', async ({ app, visit }) => {
  const foreign = await app.api('POST', '/sessions', { title: 'Private plans' });
  await app.addUser('piet');
  const page = await visit({ as: 'piet' });
  const answer = await page.goto(`${app.url}/s/${foreign.id}`);
  assert.equal(answer.status(), 404);
  assert.ok(!(await page.content()).includes('Private plans'));
}, { allow: [/status of 404/] });

test('without an admin token the printed link signs in once only', async (t) => {
  const app = await Offcut.start({ env: { OFFCUT_ADMIN_TOKEN: '' } });
  t.after(() => app.close());
  const printed = () => app.log.match(/http:\/\/\S*\/login\?token=\S+(?=\s)/)?.[0];
  await eventually(printed, () => `no link was printed:\n${app.log}`);
  const link = printed();
  const once = await fetch(link, { redirect: 'manual' });
  assert.equal(Math.floor(once.status / 100), 3, `the link answers ${once.status}`);
  assert.ok(once.headers.getSetCookie().some((cookie) => /httponly/i.test(cookie) && /samesite/i.test(cookie)));
  assert.ok(!once.headers.get('location').includes('token'));
  const twice = await fetch(link, { redirect: 'manual' });
  const signedIn = twice.headers.getSetCookie().join('; ');
  const home = await fetch(`${app.url}/`, { redirect: 'manual', headers: { cookie: signedIn.split(';')[0] } });
  assert.ok(twice.status !== 303 || home.status !== 200, 'the link signed in a second time');
});
