// The composer: sending once, queueing, stopping, keys, and never losing what was typed.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { signIn, suite } from '../harness/suite.js';
import { calls, fails, gate, numbers, says } from '../harness/provider.js';
import { Proxy } from '../harness/proxy.js';
import { eventually } from '../harness/eventually.js';

const it = suite();
const hundred = numbers(1, 100);

/** Waits until the browser keeps what was written, which it does after a moment. */
const keptDraft = (page, text) => page.waitForFunction((words) => Object.values(localStorage).some((kept) => kept.includes(words)), text);

it('Enter sends, Shift+Enter breaks the line', async ({ chat, provider }) => {
  provider.on('first line', says('Two lines.'));
  const c = await chat();
  await c.open();
  await c.box.pressSequentially('first line');
  await c.box.press('Shift+Enter');
  await c.box.pressSequentially('second line');
  assert.equal(await c.box.inputValue(), 'first line\nsecond line');
  await c.box.press('Enter');
  await c.page.waitForURL(/\/s\//);
  await c.settled();
  assert.equal(provider.sent('first line').at(-1).messages.at(-1).content, 'first line\nsecond line');
  assert.equal(await c.box.inputValue(), '');
});

it('Enter that ends an input method’s word does not send', async ({ app, chat }) => {
  const session = await app.session();
  const c = await chat();
  await c.open(session.id);
  await c.box.fill('你好');
  await c.box.evaluate((box) => {
    for (const type of ['keydown', 'keyup']) {
      box.dispatchEvent(new KeyboardEvent(type, { key: 'Enter', code: 'Enter', keyCode: 229, isComposing: true, bubbles: true, cancelable: true }));
    }
  });
  await sleep(300);
  assert.equal(await c.questions.count(), 0);
  assert.equal(await c.box.inputValue(), '你好');
});

it('an empty message is not sent', async ({ app, chat }) => {
  const session = await app.session();
  const c = await chat();
  await c.open(session.id);
  for (const text of ['', '   ', '\n\n']) {
    await c.box.fill(text);
    await c.box.press('Enter');
  }
  await sleep(300);
  assert.equal(await c.questions.count(), 0);
});

it('a double click sends once', async ({ app, chat, provider }) => {
  provider.on('click me twice', says('Once.'));
  const session = await app.session();
  const c = await chat();
  await c.open(session.id);
  await c.box.fill('click me twice');
  await c.send.dblclick();
  await c.settled();
  await sleep(500);
  assert.equal(await c.questions.count(), 1);
  assert.equal((await app.messages(session.id)).filter((m) => m.role === 'user').length, 1);
});

it('a double click on the empty page makes one session', async ({ app, chat, provider }) => {
  provider.on('only one session', says('One.'));
  const c = await chat();
  await c.open();
  await c.box.fill('only one session');
  await c.send.dblclick();
  await c.page.waitForURL(/\/s\//);
  await c.settled();
  const { items } = await app.api('GET', '/sessions?limit=200');
  assert.equal(items.filter((s) => s.title?.includes('only one session')).length, 1);
});

it('a message written while a turn runs is queued, shown as such, and sent in its turn', async ({ chat, provider }) => {
  const middle = gate();
  provider.on('first in line', says('', { chunks: ['Working', ' on it.'], hold: { after: 1, gate: middle } }));
  provider.on('second in line', says('Second answer.'));
  const c = await chat();
  await c.open();
  await c.say('first in line');
  await c.shows('Working');
  await c.say('second in line');
  const second = c.page.locator('[data-testid=message][data-role=user][data-state=queued]');
  await second.filter({ hasText: 'second in line' }).waitFor();
  await c.page.reload();
  await second.waitFor();
  middle.open();
  await c.settled('done', 2);
  assert.equal(await c.text(), 'Second answer.');
  assert.equal(await second.count(), 0);
  const order = await c.page.getByTestId('message').evaluateAll((all) => all.map((m) => m.dataset.role));
  assert.deepEqual(order, ['user', 'assistant', 'user', 'assistant']);
});

it('stop at the twentieth token keeps the twenty and says stopped', async ({ app, chat, provider }) => {
  provider.on('count until stopped', says('', { chunks: hundred, hold: { after: 20, gate: gate() } }));
  provider.on('after the stop', says('Still here.'));
  const c = await chat();
  await c.open();
  await c.say('count until stopped');
  await c.shows(hundred.slice(0, 20).join(''), { exactly: true });
  await c.stop.click();
  await c.settled('stopped');
  assert.equal(await c.text(), hundred.slice(0, 20).join(''));
  await c.answer.getByText(/stopped/i).first().waitFor();
  await c.page.reload();
  assert.equal(await c.answer.getAttribute('data-state'), 'stopped');
  assert.equal(await c.text(), hundred.slice(0, 20).join(''));
  assert.ok((await app.messages(c.sessionID)).some((m) => m.role === 'user' && m.content === 'count until stopped'));
  await c.ask('after the stop');
  assert.equal(await c.text(), 'Still here.');
});

it('Esc stops the turn', async ({ chat, provider }) => {
  provider.on('count until Esc', says('', { chunks: hundred, hold: { after: 20, gate: gate() } }));
  const c = await chat();
  await c.open();
  await c.say('count until Esc');
  await c.shows(' 20');
  await c.box.press('Escape');
  await c.settled('stopped');
});

it('stop ends a running command, and the model is told that its effects are unknown', async ({ chat, provider }) => {
  provider.on('sleep long', calls(['run_command', { command: 'echo began; sleep 60' }]), says('Never said.'));
  provider.on('what now', says('I know.'));
  const c = await chat();
  await c.open();
  await c.say('sleep long');
  await c.live.getByText('began').waitFor();
  const began = Date.now();
  await c.stop.click();
  await c.settled('stopped');
  assert.ok(Date.now() - began < 2000, `the stop took ${Date.now() - began} ms`);
  assert.equal(await c.card.getAttribute('data-state'), 'stopped');
  await c.ask('what now');
  const { messages } = provider.sent('what now').at(-1);
  const asked = messages.find((m) => m.tool_calls)?.tool_calls[0];
  const result = messages.find((m) => m.role === 'tool');
  assert.equal(result.tool_call_id, asked.id);
  assert.match(result.content, /unknown/i);
});

it('stop on the card ends the command alone and the turn goes on', async ({ chat, provider }) => {
  provider.on('stop only this', calls(['run_command', { command: 'echo started; sleep 60' }]), says('The turn went on.'));
  const c = await chat();
  await c.open();
  await c.say('stop only this');
  await c.live.getByText('started').waitFor();
  await c.card.getByTestId('tool-stop').click();
  await c.settled();
  assert.equal(await c.text(), 'The turn went on.');
  assert.equal(await c.card.getAttribute('data-state'), 'stopped');
});

it('a failed POST keeps the text and says why', async ({ t, app, chat, provider }) => {
  const proxy = await Proxy.start(app.origin);
  t.after(() => proxy.close());
  provider.on('do not lose me', says('Not lost.'));
  const session = await app.session();
  const c = await chat({ via: proxy.origin });
  await c.open(session.id);
  proxy.intercept = (req, res) => {
    if (req.method !== 'POST' || !req.url.includes('/messages')) return false;
    req.resume();
    res.writeHead(500, { 'content-type': 'text/html' }).end('<p>Something broke.</p>');
    return true;
  };
  await c.say('do not lose me');
  await c.page.getByRole('alert').filter({ hasText: /\S/ }).first().waitFor();
  assert.equal(await c.box.inputValue(), 'do not lose me');
  await c.page.reload();
  assert.equal(await c.box.inputValue(), 'do not lose me', 'the draft is lost by a reload');
  proxy.intercept = () => false;
  await c.box.press('Enter');
  await c.settled();
  assert.equal(await c.text(), 'Not lost.');
  assert.equal(await c.questions.count(), 1);
}, { allow: [/status of 500/, /Response Status Error Code 500/] });

it('a draft survives a reload and goes once it is sent', async ({ app, chat, provider }) => {
  provider.on('a long thought', says('Thought.'));
  const session = await app.session();
  const c = await chat();
  await c.open(session.id);
  await c.box.pressSequentially('a long thought');
  await keptDraft(c.page, 'a long thought');
  await c.page.reload();
  assert.equal(await c.box.inputValue(), 'a long thought');
  await c.box.press('Enter');
  await c.settled();
  await c.page.reload();
  assert.equal(await c.box.inputValue(), '');
});

it('/ goes to the search, F6 between the conversation and the box', async ({ app, chat, provider }) => {
  provider.on('keys', says('Keyed.'));
  const session = await app.session('keys');
  const c = await chat();
  await c.open(session.id);
  const focused = () => c.page.evaluate(() => {
    const node = document.activeElement;
    return node.dataset.testid ?? node.id ?? node.tagName;
  });
  await c.page.locator('#log').focus();
  await c.page.keyboard.press('/');
  assert.equal(await focused(), 'session-search');
  await c.box.focus();
  await c.page.keyboard.press('F6');
  await eventually(() => c.page.evaluate(() => !!document.activeElement.closest('#log')), focused);
  await c.page.keyboard.press('F6');
  await eventually(() => c.page.evaluate(() => document.activeElement.matches('textarea')), focused);
  await c.box.press('/');
  assert.equal(await c.box.inputValue(), '/', 'a slash in the box is a slash');
});

it('what is typed while an answer streams in keeps its focus and its text', async ({ chat, provider }) => {
  provider.on('stream under my hands', says('', { chunks: numbers(1, 200), delay: 10 }));
  const c = await chat();
  await c.open();
  await c.say('stream under my hands');
  await c.shows(' 10');
  await c.box.pressSequentially('my next question', { delay: 40 });
  await c.settled();
  assert.equal(await c.box.inputValue(), 'my next question');
  assert.ok(await c.box.evaluate((box) => box === document.activeElement));
});

it('an error of the provider is shown with its own words, and the text before it stays', async ({ chat, provider }) => {
  provider.on('refuse me', fails(400, 'This model does not like the letter q.'));
  provider.on('break off', says('', { chunks: ['Half a sentence', ' and then'], cut: true }));
  const c = await chat();
  await c.open();
  await c.ask('refuse me', 'error');
  assert.match(await c.page.getByTestId('turn-error').last().innerText(), /does not like the letter q/);
  await c.ask('break off', 'interrupted');
  assert.match(await c.text(), /Half a sentence and then/);
  await c.page.reload();
  assert.match(await c.text(), /Half a sentence and then/);
});

it('20,000 pasted lines do not freeze the box', async ({ app, chat }) => {
  const session = await app.session();
  const c = await chat();
  await c.open(session.id);
  const took = await c.box.evaluate((box) => {
    const text = Array.from({ length: 20000 }, (_, i) => `pasted line ${i}`).join('\n');
    box.focus();
    const began = performance.now();
    box.value = text;
    box.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertFromPaste' }));
    box.getBoundingClientRect();
    return performance.now() - began;
  });
  assert.ok(took < 1000, `${took} ms`);
});

it('a message that is too long is refused with its limit, and stays', async ({ app, chat }) => {
  const session = await app.session();
  const c = await chat();
  await c.open(session.id);
  const long = 'é'.repeat(600000); // 1.2 MB
  await c.box.evaluate((box, text) => {
    box.value = text;
    box.dispatchEvent(new InputEvent('input', { bubbles: true }));
  }, long);
  await c.box.press('Enter');
  const problem = c.page.getByRole('alert').filter({ hasText: /1,?048,?576|1 MiB|too (large|long)/i });
  await problem.first().waitFor();
  assert.equal((await c.box.inputValue()).length, long.length);
  assert.equal(await c.questions.count(), 0);
}, { allow: [/status of 413/, /Response Status Error Code 413/] });

it('who was signed out meanwhile keeps the text and is led to sign in', async ({ app, chat }) => {
  const session = await app.session();
  const c = await chat();
  await c.open(session.id);
  await c.page.context().clearCookies();
  await c.say('do not lose this either');
  await c.page.getByRole('link', { name: /sign in/i }).or(c.page.locator('[name=password]')).first().waitFor();
  assert.equal(await c.page.locator('#messages [name=password]').count(), 0, 'the sign-in page stands in the conversation');
  const way = c.page.locator('#composer-problem a');
  assert.equal(new URL(await way.getAttribute('href'), app.url).searchParams.get('next'), `/s/${session.id}`, 'one does not come back to the session');
  if (await c.box.isVisible()) assert.equal(await c.box.inputValue(), 'do not lose this either');
  await signIn(c.page, app.url);
  await c.open(session.id);
  assert.equal(await c.box.inputValue(), 'do not lose this either', 'the draft is lost by signing in again');
}, { allow: [/status of (401|403)/, /Response Status Error Code 40[13]/, /WebSocket|htmx:ws:error/i] });

it('a second tab’s question is its own message, though it began with the first one’s draft', async ({ app, chat, provider }) => {
  provider.on('the first question', says('One.'));
  provider.on('quite another', says('Two.'));
  const session = await app.session();
  const one = await chat();
  await one.open(session.id);
  await one.box.fill('the first question');
  await keptDraft(one.page, 'the first question');
  const two = await chat({ beside: one.page });
  await two.open(session.id);
  assert.equal(await two.box.inputValue(), 'the first question');
  await one.box.press('Enter');
  await one.settled();
  await two.say('quite another question');
  await two.questions.nth(1).waitFor();
  const asked = (await app.messages(session.id)).filter((m) => m.role === 'user').map((m) => m.content);
  assert.deepEqual(asked, ['the first question', 'quite another question']);
});

it('a text that is changed after a try that failed on its way back is another message', async ({ app, chat, provider }) => {
  provider.on('sent and lost', says('Got it.'));
  provider.on('changed since', says('Got that too.'));
  const session = await app.session();
  const c = await chat();
  await c.open(session.id);
  await c.page.evaluate(() => { // the answer to the next request is lost
    const { fetch } = globalThis;
    globalThis.fetch = async (...request) => {
      globalThis.fetch = fetch;
      await fetch(...request);
      throw new TypeError('the connection broke');
    };
  });
  await c.say('sent and lost');
  await c.page.getByText('try again').first().waitFor();
  await c.say('changed since');
  await c.questions.nth(1).waitFor();
  const asked = (await app.messages(session.id)).filter((m) => m.role === 'user').map((m) => m.content);
  assert.deepEqual(asked, ['sent and lost', 'changed since']);
});

it('who signs in next finds nothing of what the one before wrote', async ({ app, visit }) => {
  const page = await visit();
  await signIn(page, app.url);
  await page.goto(`${app.url}/`);
  await page.locator('#composer-text').fill('between me and the machine');
  await keptDraft(page, 'between me and the machine');
  await page.reload();
  assert.equal(await page.locator('#composer-text').inputValue(), 'between me and the machine');
  await page.evaluate(() => document.querySelector('form[data-leaves]').requestSubmit());
  await page.locator('[name=password]').waitFor();
  assert.deepEqual(await page.evaluate(() => Object.entries(localStorage).filter(([, value]) => value.includes('between me'))), []);
});
