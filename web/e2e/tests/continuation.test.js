import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { says } from '../harness/provider.js';

const it = suite();
const hidden = 'Output token limit hit. Resume directly';

it('continuations are never seen and read as one bubble', async ({ app, chat, provider }) => {
  provider.on('a long story', says('Once upon', { finish: 'length' }), says(' a time', { finish: 'length' }), says(' it ended.'));
  const c = await chat();
  await c.open();
  await c.ask('a long story');
  assert.equal(await c.answers.count(), 1);
  assert.equal((await c.text()).replaceAll(/\s+/g, ' '), 'Once upon a time it ended.');
  assert.ok(!(await c.page.content()).includes(hidden), 'the hidden message is in the page');
  await c.page.reload();
  assert.equal(await c.answers.count(), 1);
  assert.ok(!(await c.page.content()).includes(hidden), 'the hidden message is in the page after a reload');
  assert.equal((await app.messages(c.sessionID)).filter((m) => m.is_meta).length, 0);
  assert.equal((await app.messages(c.sessionID, '&include=hidden')).filter((m) => m.is_meta).length, 2);
});

it('the fourth cut in a row ends the turn with an error that says why', async ({ chat, provider }) => {
  provider.on('never ends', says('and on ', { finish: 'length' }));
  const c = await chat();
  await c.open();
  await c.ask('never ends', 'error');
  const error = c.page.getByTestId('turn-error').last();
  assert.match(await error.innerText(), /repeatedly exceeded the output token limit/);
  assert.equal(provider.sent('never ends').length, 4);
  await c.page.reload();
  assert.match(await c.page.getByTestId('turn-error').last().innerText(), /repeatedly exceeded the output token limit/);
  assert.ok(!(await c.page.content()).includes(hidden));
});
