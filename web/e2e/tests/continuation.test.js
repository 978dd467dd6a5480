import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from '../harness/suite.js';
import { calls, gate, says } from '../harness/provider.js';
import { eventually } from '../harness/eventually.js';

const it = suite();
const hidden = 'Output token limit hit. Resume directly';
const offline = [/WebSocket|htmx:ws:error/i, /ERR_CONNECTION/, /Failed to load resource/];

/** The last answer's parts as they stand on the page: their HTML without scripts' additions, and the tail. */
const parts = (c) => c.answer.evaluate((article) => [...article.querySelectorAll('.part')].map((part) => {
  const copy = part.cloneNode(true);
  for (const added of copy.querySelectorAll('[data-copy-code], .think')) added.remove();
  return [...copy.querySelectorAll('.prose')].map((prose) => prose.innerHTML.trim()).join('');
}));

/** What one selector finds in the last answer's text. */
const texts = (c, selector) => c.answer.locator(`.part > .blocks ${selector}`).evaluateAll((all) => all.map((e) => e.textContent));

/** Answers a message in three: a whole paragraph and half a word, the rest of the word up to a gate, the end. */
function torn(provider, key) {
  const middle = gate();
  provider.on(
    key,
    says('Begun.\n\nThe first half,\nmid-wo', { finish: 'length' }),
    says('', { chunks: ['rd ', 'second half'], hold: { after: 2, gate: middle }, finish: 'length' }),
    says(', and the end.'),
  );
  return middle;
}

const half = 'Begun.The first half,\nmid-word second half';
const whole = `${half}, and the end.`;
const flat = (text) => text.replaceAll(/(Begun\.)\s+/g, '$1');

async function showsHalf(c) {
  await c.shows('mid-word second half');
  assert.equal(flat(await c.text()), half);
  assert.equal(await c.answer.locator('.part').count(), 1);
}

async function settlesWhole(c) {
  await c.settled();
  assert.equal(flat(await c.text()), whole);
  assert.deepEqual(await texts(c, 'p'), ['Begun.', 'The first half,\nmid-word second half, and the end.']);
}

it('continuations are never seen and read as one bubble', async ({ app, chat, provider }) => {
  provider.on('a long story', says('Once upon', { finish: 'length' }), says(' a time', { finish: 'length' }), says(' it ended.'));
  const c = await chat();
  await c.open();
  await c.ask('a long story');
  assert.equal(await c.answers.count(), 1);
  assert.equal(await c.text(), 'Once upon a time it ended.');
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

it('a torn word is whole: while it streams, at the end, after a reload and when copied', async ({ chat, provider }) => {
  const middle = torn(provider, 'tear a word');
  const c = await chat();
  await c.open();
  await c.say('tear a word');
  await showsHalf(c);
  assert.equal(await c.answer.getAttribute('data-state'), 'running');
  middle.open();
  await settlesWhole(c);
  const streamed = await parts(c);
  await c.answer.getByRole('button', { name: /^copy$/i }).last().click();
  let pasted;
  await eventually(async () => {
    await c.box.fill('');
    await c.box.press('ControlOrMeta+V');
    pasted = (await c.box.inputValue()).replaceAll(/\s+/g, ' ');
    return pasted === 'Begun. The first half, mid-word second half, and the end.';
  }, () => `copied was ${pasted}`);
  await c.page.reload();
  await settlesWhole(c);
  assert.deepEqual(await parts(c), streamed);
});

it('a reload and a second tab in mid-continuation lose and repeat nothing', async ({ chat, provider }) => {
  const middle = torn(provider, 'tear and reload');
  const one = await chat();
  await one.open();
  await one.say('tear and reload');
  await showsHalf(one);
  await one.page.reload();
  await showsHalf(one);
  const two = await chat({ beside: one.page });
  await two.open(one.sessionID);
  await showsHalf(two);
  middle.open();
  await settlesWhole(one);
  await settlesWhole(two);
});

it('a code block, a table and a fence that were cut stay whole', async ({ chat, provider }) => {
  const cases = [
    ['cut the code', ['Code:\n\n```js\nconst a = 1;\ncon', 'st b = 2;\nconst c = 3;\n```\n\nDone.'], { pre: ['const a = 1;\nconst b = 2;\nconst c = 3;\n'], p: ['Code:', 'Done.'] }],
    ['cut the fence', ['``', '`\ncode\n``', '`\n\nDone.'], { pre: ['code\n'], p: ['Done.'] }],
    ['cut the table', ['| n | word |\n|---|---|\n| 1 | o', 'ne |\n| 2 | two |\n'], { td: ['1', 'one', '2', 'two'], p: [] }],
  ];
  const c = await chat();
  await c.open();
  for (const [key, pieces, wanted] of cases) {
    provider.on(key, ...pieces.map((text, i) => says(text, { finish: i < pieces.length - 1 ? 'length' : 'stop' })));
    await c.ask(key);
    for (const [selector, found] of Object.entries(wanted)) assert.deepEqual(await texts(c, selector), found, `${key}: ${selector}`);
    assert.equal((await parts(c)).length, 1, key);
    const streamed = await parts(c);
    await c.page.reload();
    assert.deepEqual(await parts(c), streamed, key);
  }
});

it('the tools of a continuation stand under its text, and the next text begins anew', async ({ chat, provider }) => {
  provider.on('tear, then run', says('I lo', { finish: 'length' }), { ...calls(['run_command', { command: 'echo found' }]), chunks: ['ok.'] }, says('Fou', { finish: 'length' }), says('nd.'));
  const c = await chat();
  await c.open();
  await c.ask('tear, then run');
  for (const when of ['streamed', 'loaded']) {
    assert.deepEqual(await texts(c, 'p'), ['I look.', 'Found.'], when);
    assert.deepEqual(await c.answer.locator('.parts > *').evaluateAll((all) => all.map((e) => e.className + e.querySelectorAll('.tool').length)), ['part0', 'steps1', 'part0', 'steps0'], when);
    await c.page.reload();
  }
});

it('reasoning that was cut goes on in one place', async ({ chat, provider }) => {
  provider.on('think hard', says('', { chunks: [], reasoning: 'I thi', finish: 'length' }), says('So it is.', { reasoning: 'nk so.' }));
  const c = await chat();
  await c.open();
  await c.ask('think hard');
  for (const when of ['streamed', 'loaded']) {
    assert.deepEqual(await c.answer.locator('.think .reason').allTextContents(), ['I think so.'], when);
    await c.page.reload();
  }
});

it('a kill in mid-continuation keeps the text as one', async ({ app, chat, provider }) => {
  torn(provider, 'tear and kill');
  const c = await chat();
  await c.open();
  await c.say('tear and kill');
  await showsHalf(c);
  await sleep(1500); // what streams in is written at least every second
  await app.kill();
  await app.launch();
  await c.settled('interrupted');
  assert.equal(flat(await c.text()), half);
  await c.page.reload();
  assert.equal(await c.answer.getAttribute('data-state'), 'interrupted');
  assert.equal(flat(await c.text()), half);
  assert.deepEqual(await texts(c, 'p'), ['Begun.', 'The first half,\nmid-word second half']);
}, { allow: offline });
