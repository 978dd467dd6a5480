// One socket per open session, however one moves about, and what happens to a
// page whose session goes away.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from '../harness/suite.js';
import { calls, gate, says } from '../harness/provider.js';
import { Proxy } from '../harness/proxy.js';
import { eventually } from '../harness/eventually.js';

const it = suite();

it('moving between sessions leaves one socket, not one for each', async ({ t, app, chat }) => {
  const proxy = await Proxy.start(app.origin);
  t.after(() => proxy.close());
  const [a, b] = [await app.session(), await app.session()];
  const c = await chat({ via: proxy.origin });
  await c.open(a.id);
  for (let i = 0; i < 10; i += 1) {
    const next = i % 2 ? a : b;
    await c.page.locator(`[data-testid=session-item] a[href*="${next.id}"]`).click();
    await c.page.waitForURL(`**/s/${next.id}`);
    await c.composer.waitFor();
  }
  await eventually(() => proxy.open === 1, () => `${proxy.open} sockets are open`);
  const before = proxy.opened;
  await sleep(3000);
  assert.equal(proxy.opened, before, 'old sockets connect again');
});

it('a session that is deleted says so in every open browser and does not connect again', async ({ t, app, chat }) => {
  const proxy = await Proxy.start(app.origin);
  t.after(() => proxy.close());
  const session = await app.session();
  const c = await chat({ via: proxy.origin });
  await c.open(session.id);
  await eventually(() => proxy.open === 1, 'the page does not connect');
  await app.api('DELETE', `/sessions/${session.id}`);
  await c.page.getByText(/deleted/i).first().waitFor();
  const before = proxy.opened;
  await sleep(2500);
  assert.equal(proxy.opened, before);
});

it('a page whose session is deleted while a turn runs works no longer, and takes nothing', async ({ app, chat, provider }) => {
  provider.on('run and be deleted', calls(['run_command', { command: 'echo begun; sleep 60' }]), says('Never.'));
  const c = await chat();
  await c.open();
  await c.say('run and be deleted');
  await c.live.filter({ hasText: 'begun' }).waitFor();
  await c.box.fill('what I was about to ask');
  const row = c.page.locator(`[data-testid="session-item"][data-session="${c.sessionID}"]`);
  assert.equal(await row.count(), 1);
  await app.api('DELETE', `/sessions/${c.sessionID}`);
  await c.page.getByText('This session was deleted.').first().waitFor();
  assert.equal(await c.page.locator('#chat .working, #chat .dot.pulse:visible').count(), 0, 'something seems to work');
  assert.equal(await c.stop.isVisible(), false);
  assert.equal(await c.send.isDisabled(), true);
  assert.equal(await c.box.inputValue(), 'what I was about to ask', 'the text is lost');
  assert.equal(await row.count(), 0, 'the sidebar lists it');
});

it('stop still works after a reload', async ({ chat, provider }) => {
  provider.on('reload then stop', calls(['run_command', { command: 'echo begun; sleep 60' }]), says('Never.'));
  const c = await chat();
  await c.open();
  await c.say('reload then stop');
  await c.live.getByText('begun').waitFor();
  await c.page.reload();
  await c.stop.click();
  await c.settled('stopped');
});

it('while it is not connected the page says so and the composer still sends', async ({ t, app, chat, provider }) => {
  const proxy = await Proxy.start(app.origin);
  t.after(() => proxy.close());
  provider.on('sent without a socket', says('It came.'));
  const session = await app.session();
  const c = await chat({ via: proxy.origin });
  await c.open(session.id);
  await eventually(() => proxy.open === 1, 'the page does not connect');
  proxy.refusing = true;
  proxy.drop();
  await c.page.locator('.offbar').waitFor();
  await c.say('sent without a socket');
  await c.questions.first().waitFor();
  proxy.refusing = false;
  await c.settled();
  assert.equal(await c.text(), 'It came.');
  assert.equal(await c.questions.count(), 1);
  await c.page.locator('.offbar').waitFor({ state: 'hidden' });
}, { allow: [/WebSocket|htmx:ws:error/i] });

it('a socket from another site is refused', async ({ app, visit }) => {
  const session = await app.session();
  const page = await visit();
  await page.goto('about:blank');
  const refused = await page.evaluate((url) => new Promise((resolve) => {
    const ws = new WebSocket(url);
    ws.onopen = () => resolve(false);
    ws.onerror = () => resolve(true);
  }), `${app.url.replace('http', 'ws')}/ws/sessions/${session.id}`);
  assert.ok(refused);
}, { allow: [/WebSocket|htmx:ws:error/i] });

it('an answer that was halted for long is still shown as running', async ({ chat, provider }) => {
  const middle = gate();
  provider.on('think for seconds', says('', { chunks: ['Now.'], hold: { after: 0, gate: middle } }));
  const c = await chat();
  await c.open();
  await c.say('think for seconds');
  await c.stop.waitFor();
  await sleep(3000);
  assert.ok(await c.stop.isVisible());
  middle.open();
  await c.settled();
  assert.equal(await c.text(), 'Now.');
});

it('where sockets never open the page says so and shows the answers all the same', async ({ t, app, chat, provider }) => {
  const proxy = await Proxy.start(app.origin);
  t.after(() => proxy.close());
  proxy.refusing = true;
  provider.on('no socket at all', says('It came by another way.'));
  const session = await app.session();
  const c = await chat({ via: proxy.origin });
  c.page.setDefaultTimeout(40000);
  await c.open(session.id);
  await c.say('no socket at all');
  await c.page.locator('.offbar').waitFor();
  await c.settled();
  assert.equal(await c.text(), 'It came by another way.');
}, { allow: [/WebSocket|htmx:ws:error/i] });

it('three drops leave the reader where they were', async ({ t, app, chat, provider }) => {
  const proxy = await Proxy.start(app.origin);
  t.after(() => proxy.close());
  provider.on('something long', says('A paragraph.\n\n'.repeat(80)));
  const session = await app.session('something long');
  const c = await chat({ via: proxy.origin, height: 500 });
  await c.open(session.id);
  await c.page.mouse.move(640, 250);
  const place = () => c.page.evaluate(() => Math.round(document.scrollingElement.scrollTop));
  const end = await place();
  await c.page.mouse.wheel(0, -700);
  await eventually(async () => await place() < end, 'the wheel moved nothing');
  await c.page.waitForTimeout(400); // a wheel may move the page bit by bit
  const before = await place();
  assert.ok(before > 0);
  for (let i = 0; i < 3; i += 1) {
    const opened = proxy.opened;
    proxy.drop();
    await eventually(() => proxy.opened > opened, 'the page never came back');
  }
  await sleep(500);
  assert.equal(await place(), before);
  const ids = await c.page.getByTestId('message').evaluateAll((all) => all.map((m) => m.id));
  assert.equal(new Set(ids).size, ids.length);
}, { allow: [/WebSocket|htmx:ws:error/i] });
