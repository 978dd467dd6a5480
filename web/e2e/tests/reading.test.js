// Following the end of a conversation, and leaving the reader alone.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { gate, says } from '../harness/provider.js';
import { eventually } from '../harness/eventually.js';

const it = suite();

const paragraphs = (from, to) => Array.from({ length: to - from }, (_, i) => `Line of prose number ${from + i}.\n\n`);

/** An answer longer than the screen that waits, and then goes on. */
function longAnswer(provider, key) {
  const middle = gate();
  const chunks = paragraphs(0, 90);
  provider.on(key, says('', { chunks, delay: 5, hold: { after: 45, gate: middle } }));
  return middle;
}

/** The element that scrolls the conversation: its position and how far it is from the end. */
const scroll = (page) => page.evaluate(() => {
  let node = document.querySelector('#log');
  while (node && !(node.scrollHeight > node.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(node).overflowY))) node = node.parentElement;
  node ??= document.scrollingElement;
  return { top: node.scrollTop, rest: node.scrollHeight - node.scrollTop - node.clientHeight };
});

const atTheEnd = (c) => eventually(async () => (await scroll(c.page)).rest < 40, 'the end of the conversation is not in view', 2000);

it('at the end the page follows what comes', async ({ chat, provider }) => {
  const middle = longAnswer(provider, 'follow me');
  const c = await chat({ height: 500 });
  await c.open();
  await c.say('follow me');
  await c.shows('number 44.');
  middle.open();
  await c.settled();
  await atTheEnd(c);
});

it('a reader who scrolled up is left in peace, and one button leads to the latest', async ({ chat, provider }) => {
  const middle = longAnswer(provider, 'let me read');
  const c = await chat({ height: 500 });
  await c.open();
  await c.say('let me read');
  await c.shows('number 44.');
  await c.page.mouse.move(640, 250);
  await c.page.mouse.wheel(0, -200);
  await eventually(async () => (await scroll(c.page)).rest > 100, 'the wheel moved nothing');
  await c.page.waitForTimeout(300); // a wheel may move the page bit by bit
  const before = await scroll(c.page);
  middle.open();
  await c.settled();
  await c.page.waitForTimeout(500);
  const after = await scroll(c.page);
  assert.equal(Math.round(after.top), Math.round(before.top));
  const jump = c.page.getByRole('button', { name: /jump to latest/i });
  await jump.click();
  await atTheEnd(c);
  await jump.waitFor({ state: 'hidden' });
});

it('a jump of the layout does not lose a follower', async ({ chat, provider }) => {
  const middle = longAnswer(provider, 'jump the layout');
  const c = await chat({ height: 500 });
  await c.open();
  await c.say('jump the layout');
  await c.shows('number 44.');
  await c.page.evaluate(() => {
    const block = document.createElement('div');
    block.className = 'e2e-block';
    for (let i = 0; i < 20; i += 1) block.append(Object.assign(document.createElement('p'), { textContent: 'x' }));
    document.querySelector('#messages').prepend(block);
  });
  middle.open();
  await c.settled();
  await atTheEnd(c);
});

it('a session that is opened stands at its end', async ({ app, chat, provider }) => {
  provider.on('already long', says(paragraphs(0, 80).join('')));
  const session = await app.session('already long');
  const c = await chat({ height: 500 });
  await c.open(session.id);
  await atTheEnd(c);
});
