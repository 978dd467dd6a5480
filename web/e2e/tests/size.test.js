// Long sessions and big outputs: bounded pages, however much there is.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { calls, runs, says } from '../harness/provider.js';
import { conversation, seeded } from '../harness/seed.js';
import { tasks, watchTasks } from '../harness/pace.js';

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

it('a large JSON result always has its preview and its size', async ({ app, chat, provider }) => {
  const megabyte = (n) => `python3 -c "import json; print(json.dumps([{'id': i, 'name': 'item %d' % i} for i in range(${30000 + n})]))"`;
  provider.on('big json', calls(...Array.from({ length: 20 }, (_, n) => ['run_command', { command: megabyte(n) }])), says('Done.'));
  const session = await app.session();
  const c = await chat();
  await c.open(session.id);
  await c.ask('big json');
  for (const when of ['streamed', 'loaded']) {
    assert.equal(await c.cards.count(), 20, when);
    for (let i = 0; i < 20; i += 1) {
      const card = await c.unfold(c.cards.nth(i));
      const preview = card.locator('.out .pre').first();
      await preview.waitFor();
      assert.match(await preview.textContent(), /"id": 0/, `${when}, card ${i}`);
      assert.match(await card.innerText(), /of\s+1,[\d,]+\s+bytes/, `${when}, card ${i}`);
    }
    await c.page.reload();
  }
});

it('sending into a session of ninety messages is as quick as into an empty one', async ({ app, chat, provider, t }) => {
  provider.on('now quickly', says('Quick.'));
  const { id } = await seeded(app, conversation(90));
  const c = await chat();
  await c.open(id);
  let best = Infinity;
  for (let n = 0; n < 5 && best >= 500; n += 1) {
    const took = c.page.evaluate(() => new Promise((resolve) => {
      const before = document.querySelectorAll('[data-role=assistant]').length;
      let sent;
      document.addEventListener('keydown', () => { sent ??= performance.now(); }, { capture: true, once: true });
      new MutationObserver(() => {
        const answers = document.querySelectorAll('[data-role=assistant]');
        if (answers.length > before && answers[answers.length - 1].textContent.includes('Quick.')) resolve(performance.now() - sent);
      }).observe(document.getElementById('messages'), { subtree: true, childList: true, characterData: true });
    }));
    await c.ask('now quickly');
    best = Math.min(best, await took);
  }
  t.diagnostic(`${best} ms from Enter to the first words`);
  assert.ok(best < 500, `${best} ms from Enter to the first words`);
});

it('a long chat does not stutter while an answer streams in', async ({ app, chat, provider, t }) => {
  provider.on('stream two thousand', says('', { chunks: Array.from({ length: 2000 }, (_, i) => (i % 40 === 39 ? `word${i}.\n\n` : `word${i} `)), delay: 2 }));
  const { id } = await seeded(app, conversation(200, () => 'A paragraph with **bold** words and `code`.\n\n- one\n- two\n'.repeat(6)));
  const c = await chat();
  await c.open(id);
  let best = Infinity;
  for (let n = 0; n < 3 && best >= 200; n += 1) {
    await watchTasks(c.page);
    await c.ask('stream two thousand');
    await c.shows('word1999.');
    best = Math.min(best, (await tasks(c.page)).longest);
  }
  t.diagnostic(`the longest task took ${best} ms`);
  assert.ok(best < 200, `the longest task took ${best} ms`);
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
