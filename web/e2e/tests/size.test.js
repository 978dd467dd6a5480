// Long sessions and big outputs: bounded pages, however much there is.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { calls, runs, says } from '../harness/provider.js';

const it = suite({ env: { OFFCUT_MODEL_CONTEXT_TOKENS: '100000000' } });

it('the first page of a big session is at most 512 KiB, and older messages come as one scrolls up', async ({ app, chat, provider }) => {
  const paragraph = 'A paragraph with **bold** words, `code` and a sentence that goes on for a while. '.repeat(60);
  provider.on('say much', says(`${paragraph}\n\n`.repeat(8)));
  const session = await app.session();
  for (let i = 1; i <= 60; i += 1) await app.say(session.id, `say much, number ${i}.`);
  const c = await chat();
  const answer = await c.page.goto(`${app.url}/s/${session.id}`);
  const bytes = (await answer.body()).length;
  assert.ok(bytes <= 512 * 1024, `the first HTML has ${bytes} bytes`);
  const first = await c.questions.count();
  assert.ok(first < 60 && first > 0, `${first} messages at once`);
  assert.match(await c.questions.last().textContent(), /number 60\./);
  await c.page.mouse.move(640, 300);
  await c.page.mouse.wheel(0, -100000);
  await c.page.waitForFunction((n) => document.querySelectorAll('[data-testid=message][data-role=user]').length > n, first);
  const numbersShown = await c.questions.evaluateAll((all) => all.map((q) => Number(q.textContent.match(/number (\d+)\./)[1])));
  assert.deepEqual(numbersShown, [...numbersShown].sort((a, b) => a - b), 'older messages came out of order');
  assert.equal(new Set(numbersShown).size, numbersShown.length, 'messages came twice');
});

it('a session with many big outputs opens as a small page', async ({ app, chat, provider }) => {
  const four = Array.from({ length: 4 }, (_, i) => ['run_command', { command: `seq ${i + 1} 150000` }]);
  provider.on('print much', ...Array.from({ length: 10 }, () => [calls(...four), says('Printed.')]));
  const session = await app.session();
  for (let i = 1; i <= 10; i += 1) await app.say(session.id, `print much, number ${i}`);
  assert.equal((await app.outputs(session.id)).length, 40);
  const c = await chat();
  const began = Date.now();
  const answer = await c.page.goto(`${app.url}/s/${session.id}`);
  await c.composer.waitFor();
  assert.ok(Date.now() - began < 5000, `it took ${Date.now() - began} ms to open`);
  assert.ok((await answer.body()).length <= 512 * 1024);
  const page = await c.page.evaluate(() => ({ elements: document.querySelectorAll('*').length, text: document.body.textContent.length }));
  assert.ok(page.elements < 5000, `${page.elements} elements`);
  assert.ok(page.text < 600000, `${page.text} characters`);
});

it('a large JSON result always has its preview and its size', async ({ app, chat, provider }) => {
  provider.on('big json', ...runs("python3 -c \"import json; print(json.dumps([{'id': i, 'name': 'item %d' % i} for i in range(30000)]))\""));
  const session = await app.session('big json');
  const c = await chat();
  for (let i = 0; i < 3; i += 1) {
    await c.open(session.id);
    await c.unfold();
    await c.preview.first().waitFor();
    assert.match(await c.preview.first().textContent(), /"id": 0/);
    assert.match(await c.card.innerText(), /of\s+1,[\d,]+\s+bytes/);
  }
});

it('sending into a session of ninety messages is as quick as into an empty one', async ({ app, chat, provider }) => {
  provider.on('fill up', says('Filled.'));
  provider.on('now quickly', says('Quick.'));
  const session = await app.session();
  for (let i = 0; i < 45; i += 1) await app.say(session.id, `fill up ${i}`);
  const c = await chat();
  await c.open(session.id);
  const began = Date.now();
  await c.say('now quickly');
  await c.shows('Quick.');
  assert.ok(Date.now() - began < 1500, `${Date.now() - began} ms from Enter to the first words`);
});

it('a long chat does not stutter while an answer streams in', async ({ app, chat, provider }) => {
  provider.on('make it long', says('A paragraph with **bold** words and `code`.\n\n- one\n- two\n'.repeat(6)));
  provider.on('stream two thousand', says('', { chunks: Array.from({ length: 2000 }, (_, i) => (i % 40 === 39 ? `word${i}.\n\n` : `word${i} `)), delay: 2 }));
  const session = await app.session();
  for (let i = 0; i < 100; i += 1) await app.say(session.id, `make it long ${i}`);
  const c = await chat();
  await c.open(session.id);
  await c.page.evaluate(() => {
    globalThis.longest = 0;
    new PerformanceObserver((list) => {
      for (const task of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, task.duration);
    }).observe({ type: 'longtask' });
  });
  await c.say('stream two thousand');
  await c.shows('word1999.');
  const longest = await c.page.evaluate(() => globalThis.longest);
  assert.ok(longest < 200, `the longest task took ${longest} ms`);
});

it('many rounds of long reasoning and tools leave a page that can be used', async ({ app, chat, provider }) => {
  const rounds = Array.from({ length: 48 }, (_, i) => ({
    ...calls(['run_command', { command: `echo round ${i}` }]), reasoning: `Thought ${i}. `.repeat(120),
  }));
  provider.on('think and work', ...rounds, says('After 48 rounds.'));
  const c = await chat();
  await c.open();
  await c.say('think and work');
  await c.page.waitForFunction(() => document.querySelector('[data-role=assistant]')?.dataset.state === 'done', null, { timeout: 60000 });
  assert.equal(await c.cards.count(), 48);
  assert.equal((await c.text()).split('After 48 rounds.').length, 2);
  const elements = await c.page.evaluate(() => document.querySelectorAll('*').length);
  assert.ok(elements < 5000, `${elements} elements`);
});
