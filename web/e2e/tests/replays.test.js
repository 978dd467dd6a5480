// What a page shows while what it missed is still on its way, and what it can
// do after its conversation was read again.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { calls, gate, numbers, says } from '../harness/provider.js';
import { eventually } from '../harness/eventually.js';

const it = suite();
const hundred = numbers(1, 100);

/** Takes the page's sockets in hand: what the server sends passes at a gate, and a test can send frames of its own. */
async function intercept(page, passing) {
  const opened = [];
  await page.routeWebSocket(/\/ws\/sessions\//, (socket) => {
    opened.push(socket);
    socket.connectToServer().onMessage(async (message) => {
      await passing?.opened;
      socket.send(message);
    });
  });
  return opened;
}

it('before what it missed has come, a page shows what the server has and that the turn runs', async ({ chat, provider }) => {
  const [middle, passing] = [gate(), gate()];
  provider.on('count late', says('', { chunks: hundred, hold: { after: 50, gate: middle } }));
  const c = await chat();
  await c.open();
  await c.say('count late');
  await c.shows(' 50');
  const late = await chat({ beside: c.page });
  const sockets = await intercept(late.page, passing);
  await late.open(c.sessionID);
  await eventually(() => sockets.length === 1, 'no socket was opened');
  middle.open();
  await c.settled();
  assert.equal(await late.text(), hundred.slice(0, 50).join(''));
  assert.equal(await late.answer.getAttribute('data-state'), 'running');
  assert.ok(await late.stop.isVisible());
  passing.open();
  await late.settled();
  assert.equal(await late.text(), hundred.join(''));
});

it('the buttons of a conversation that was read again twice still work', async ({ chat, provider }) => {
  provider.on('read me again', calls(['run_command', { command: 'echo begun; sleep 60' }]), says('It went on.'));
  provider.on('and then this', says('Sent as ever.'));
  const c = await chat();
  const sockets = await intercept(c.page);
  await c.open();
  await c.say('read me again');
  await c.live.getByText('begun').waitFor();
  for (let i = 0; i < 2; i += 1) {
    const read = c.page.waitForResponse((answer) => new URL(answer.url()).pathname.endsWith('/log'));
    sockets.at(-1).send('{"t":"resync"}');
    await (await read).finished();
  }
  await c.live.getByText('begun').waitFor();
  await c.card.getByTestId('tool-stop').click();
  await c.settled();
  assert.equal(await c.text(), 'It went on.');
  assert.equal(await c.cards.count(), 1);
  await c.ask('and then this');
  assert.equal(await c.text(), 'Sent as ever.');
});
