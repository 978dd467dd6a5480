// Asking anew, going on, changing what one wrote, and looking at another version.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { sends, suite } from '../harness/suite.js';
import { fails, gate, numbers, says } from '../harness/provider.js';
import { accessible, noSidewaysScroll } from '../harness/axe.js';
import { eventually } from '../harness/eventually.js';

const it = suite();
const goesOn = 'previous answer was interrupted';
const offline = [/WebSocket|htmx:ws:error/i, /ERR_CONNECTION/, /Failed to load resource/];
const refused = [/Failed to load resource/];

/** What stands in the conversation, questions and answers in turn. */
const said = (c) => c.page.evaluate(() => [...document.querySelectorAll('[data-testid=message]')]
  .map((m) => (m.querySelector('.said, .parts')?.innerText ?? '').trim()));

const shows = (c, ...wanted) => {
  let now = [];
  return eventually(async () => JSON.stringify(now = await said(c)) === JSON.stringify(wanted),
    () => `the conversation is ${JSON.stringify(now)}, not ${JSON.stringify(wanted)}`);
};

const retryOf = (article) => article.getByTestId('retry');

/** The switch of an article: its place, and the way back and forth. */
const switchOf = (article) => ({
  root: article.locator('[data-versions]'),
  prev: article.getByTestId('version-prev'),
  next: article.getByTestId('version-next'),
  at: async (text) => article.locator('[data-versions]').getByText(text, { exact: true }).first().waitFor(),
});

it('an answer that comes before the conversation was read anew: the box is free in every tab', async ({ app, chat, provider }) => {
  provider.on('at once', says('First.'), says('Second.'));
  const c = await chat();
  await c.open();
  await c.say('at once');
  await c.shows('First.', { exactly: true });
  const other = await chat({ beside: c.page });
  await other.open(c.sessionID);
  await other.page.route('**/log', async (route) => { // the turn has ended when the page is read
    await eventually(async () => {
      const { content, turn_id: turn } = (await app.messages(c.sessionID)).at(-1);
      return content === 'Second.' && (await app.api('GET', `/turns/${turn}`)).state === 'done';
    }, 'the model is not asked again');
    await route.continue();
  });
  await retryOf(c.page.getByTestId('message').last()).click();
  for (const tab of [c, other]) {
    await tab.shows('Second.', { exactly: true });
    await sleep(300); // a frame that is older than the page has come by then
    await tab.page.getByTestId('send').waitFor();
    assert.equal(await tab.page.getByTestId('stop').isVisible(), false, 'it looks as if the turn still ran');
  }
});

it('a busy provider: the countdown stands in every tab and after a reload, and Retry now ends it', async ({ chat, provider, t }) => {
  provider.on('be patient', fails(429, 'slow down', { 'retry-after': '120' }), says('Thank you.'));
  const c = await chat();
  await c.open();
  await c.say('be patient');
  const notice = c.page.getByTestId('retry-notice');
  await notice.getByText(/Retrying in 1\d\d s/).waitFor();
  assert.match(await notice.innerText(), /\(1 of 10\)/);
  const first = await notice.innerText();
  await eventually(async () => (await notice.innerText()) !== first, 'the figure does not count down');
  await accessible(c.page, 'the retry notice');
  await c.page.reload();
  await notice.getByText(/Retrying in 1?\d\d s/).waitFor();

  const second = await chat({ beside: c.page });
  await second.open(c.sessionID);
  const there = second.page.getByTestId('retry-notice');
  await there.getByText(/Retrying in/).waitFor();
  await second.page.getByTestId('retry-now').click();
  for (const tab of [c, second]) {
    await tab.shows('Thank you.', { exactly: true });
    await tab.page.getByTestId('retry-notice').waitFor({ state: 'detached' });
  }
  t.diagnostic(`the model was asked ${provider.sent('be patient').length} times`);
  assert.equal(provider.sent('be patient').length, 2);
});

it('Stop in the notice ends the wait', async ({ chat, provider }) => {
  provider.on('never mind this', fails(503, 'overloaded', { 'retry-after': '300' }));
  const c = await chat();
  await c.open();
  await c.say('never mind this');
  await c.page.getByTestId('retry-notice').getByTestId('retry-stop').click();
  await c.settled('stopped');
  assert.deepEqual(await said(c), ['never mind this', '']);
});

it('an answer that breaks off keeps its text; retry begins anew and continue goes on', async ({ app, chat, provider }) => {
  const half = says('', { chunks: ['It is ', 'forty-'], cut: true });
  provider.on(goesOn, says('two.'));
  provider.on('what breaks', half, half);
  const c = await chat();
  await c.open();
  await c.ask('what breaks', 'interrupted');
  assert.equal(await c.text(), 'It is forty-');
  assert.match(await c.answer.innerText(), /broke off|broken/i);
  await accessible(c.page, 'an interrupted answer');

  await retryOf(c.answer).click();
  await switchOf(c.answer).at('2 / 2');
  await c.settled('interrupted');
  assert.equal(provider.sent('what breaks').at(-1).messages.filter((m) => m.role === 'assistant').length, 0, 'the model was sent the broken answer');

  await c.answer.getByTestId('continue').click();
  await c.settled('done', 2);
  await shows(c, 'what breaks', 'It is forty-', 'two.');
  const sent = provider.sent(goesOn).at(-1).messages;
  assert.ok(sent.some((m) => m.role === 'assistant' && m.content === 'It is forty-'), 'the model was not sent what it had said');
  assert.equal(await c.page.getByText(goesOn).count(), 0, 'the hidden message is shown');
  assert.equal(await c.page.getByTestId('continue').filter({ visible: true }).count(), 0, 'what is not the last can be continued');
  await c.page.reload();
  await shows(c, 'what breaks', 'It is forty-', 'two.');
  assert.equal((await app.messages(c.sessionID)).length, 3);
});

it("the cap's error stands under the text, with a retry", async ({ chat, provider }) => {
  const cut = says('more and ', { finish: 'length' });
  provider.on('write a book', cut, cut, cut, cut, says('A short one.'));
  const c = await chat();
  await c.open();
  await c.ask('write a book', 'error');
  assert.equal(await c.text(), 'more and more and more and more and');
  const error = c.answer.getByTestId('turn-error');
  assert.match(await error.innerText(), /output token limit/i);
  await accessible(c.page, "the cap's error");
  await retryOf(error).click();
  await c.shows('A short one.', { exactly: true });
  await switchOf(c.answer).at('2 / 2');
});

it('a server that was killed leaves an answer that can go on, and the queue goes on by itself', async ({ app, chat, provider }) => {
  provider.on('count until killed', says('', { chunks: numbers(1, 9), hold: { after: 5, gate: gate() } }));
  provider.on(goesOn, says(' 6 and so on'));
  const c = await chat();
  await c.open();
  await c.say('count until killed');
  await c.shows('1 2 3 4 5', { exactly: true });
  await sleep(1500); // what streams in is written at least every second
  await app.kill();
  await app.launch();
  await c.page.reload();
  await c.settled('interrupted');
  await retryOf(c.answer).waitFor();
  await c.answer.getByTestId('continue').click();
  await c.settled('done', 2);
  await shows(c, 'count until killed', '1 2 3 4 5', '6 and so on');
}, { allow: offline });

it('a stopped answer keeps its text and its question, and goes on when asked to', async ({ chat, provider }) => {
  provider.on('talk until stopped', says('', { chunks: numbers(1, 30), hold: { after: 20, gate: gate() } }));
  provider.on(goesOn, says('on I go'));
  const c = await chat();
  await c.open();
  await c.say('talk until stopped');
  await c.shows(' 20');
  await c.stop.click();
  await c.settled('stopped');
  await shows(c, 'talk until stopped', numbers(1, 20).join(''));
  await c.answer.getByTestId('continue').click();
  await c.settled('done', 2);
  assert.equal(await c.text(), 'on I go');
});

it('an edited message is answered in its place, and the earlier one is a version', async ({ app, chat, provider }) => {
  provider.on('one', says('answer one'));
  provider.on('two', says('answer two'));
  provider.on('two, clearer', says('answer two, better'));
  provider.on('three', says('answer three'));
  const c = await chat();
  await c.open();
  for (const text of ['one', 'two', 'three']) await c.ask(text);
  const other = await chat({ beside: c.page });
  await other.open(c.sessionID);

  const two = c.questions.nth(1);
  await two.getByTestId('edit').click();
  const box = two.locator('textarea');
  assert.equal(await box.inputValue(), 'two');
  await eventually(() => box.evaluate((node) => node === document.activeElement), 'the focus is not in the text');
  await accessible(c.page, 'a message that is edited');
  await box.press('Escape');
  await box.waitFor({ state: 'detached' });
  await eventually(() => two.getByTestId('edit').evaluate((node) => node === document.activeElement), 'the focus does not come back');

  await two.getByTestId('edit').click();
  await box.fill('two, clearer');
  await box.press('Enter');
  for (const tab of [c, other]) await shows(tab, 'one', 'answer one', 'two, clearer', 'answer two, better');
  const sent = provider.sent('two, clearer').at(-1).messages.filter((m) => m.role !== 'system').map((m) => m.content);
  assert.deepEqual(sent, ['one', 'answer one', 'two, clearer']);

  const versions = switchOf(c.questions.nth(1));
  await versions.at('2 / 2');
  assert.match(await versions.root.innerText(), /went on from version 1/);
  assert.ok(await versions.next.isDisabled());
  await accessible(c.page, 'versions');
  await versions.prev.focus();
  await c.page.keyboard.press('Enter');
  for (const tab of [c, other]) await shows(tab, 'one', 'answer one', 'two', 'answer two', 'three', 'answer three');
  await versions.at('1 / 2');
  await eventually(() => versions.next.evaluate((node) => node === document.activeElement), 'the focus left the switch');
  await eventually(async () => /Version 1 of 2/.test(await c.page.locator('#sr').textContent()), 'nothing is said of the version');
  assert.equal(await versions.root.locator('.elsewhere').count(), 0, 'nothing followed version 2');
  await other.page.reload();
  await shows(other, 'one', 'answer one', 'two', 'answer two', 'three', 'answer three');
  assert.equal((await app.messages(c.sessionID, '&include=versions')).length, 8);
});

it('an edit that is refused loses nothing', async ({ app, chat, provider }) => {
  const open = gate();
  provider.on('slow one', says('', { chunks: ['a', 'b'], hold: { after: 1, gate: open } }));
  provider.on('quick one', says('quick'));
  provider.on('changed one', says('changed'));
  const c = await chat();
  await c.open();
  await c.ask('quick one');
  await c.questions.first().getByTestId('edit').click();
  const box = c.questions.first().locator('textarea');
  await box.fill('changed one');
  await app.api('POST', `/sessions/${c.sessionID}/messages`, { content: 'slow one' });
  await c.shows('a');
  await box.press('Enter');
  await c.questions.first().getByRole('alert').getByText(/being written/).waitFor();
  assert.equal(await box.inputValue(), 'changed one');
  open.open();
  await c.settled('done', 2);
  assert.equal(await box.inputValue(), 'changed one', 'the end of a turn took the text away');
  await box.press('Control+Enter');
  await shows(c, 'changed one', 'changed');
}, { allow: refused });

it('answers have versions of their own, beside those of the question', async ({ chat, provider }) => {
  provider.on('how so', says('first'), says('second'), says('third'));
  provider.on('why so', says('because'));
  const c = await chat();
  await c.open();
  await c.ask('how so');
  for (const [text, at] of [['second', '2 / 2'], ['third', '3 / 3']]) {
    await retryOf(c.answer).click();
    await c.shows(text, { exactly: true });
    await switchOf(c.answer).at(at);
  }
  await switchOf(c.answer).prev.click();
  await c.shows('second', { exactly: true });
  await c.box.focus();
  await c.page.keyboard.press('ArrowUp');
  const box = c.questions.first().locator('textarea');
  await box.waitFor();
  await box.fill('why so');
  await box.press('Enter');
  await shows(c, 'why so', 'because');
  await switchOf(c.questions.first()).at('2 / 2');
  assert.equal(await c.answer.locator('[data-versions]').count(), 0, 'the only answer has versions');
  await switchOf(c.questions.first()).prev.click();
  await c.shows('third', { exactly: true });
  await switchOf(c.answer).at('3 / 3');
});

it('who switches at the beginning of a long conversation stays there', async ({ app, chat, provider }) => {
  provider.on('remark', says('noted'));
  provider.on('opening', says('hello'));
  provider.on('opening, again', says('hello again'));
  const session = await app.session('opening');
  for (let n = 1; n <= 24; n += 1) await app.say(session.id, `remark ${n}`);
  const [first] = await app.messages(session.id);
  const { turn_id: turn } = await app.api('POST', `/sessions/${session.id}/messages/${first.id}/edit`, { content: 'opening, again' });
  await app.settled(turn);
  const c = await chat();
  await c.open(session.id);
  await shows(c, 'opening, again', 'hello again');
  await switchOf(c.questions.first()).prev.click();
  await switchOf(c.questions.first()).at('1 / 2');
  assert.equal(await c.questions.count(), 25);
  assert.ok(await switchOf(c.questions.first()).root.isVisible());
  await eventually(() => c.page.evaluate(() => document.activeElement.dataset.testid === 'version-next'), 'the focus is not at the switch');
  const place = () => c.questions.first().evaluate((node) => ({ top: node.getBoundingClientRect().top, height: innerHeight }));
  await eventually(async () => {
    const { top, height } = await place();
    return top > -50 && top < height;
  }, async () => `the switch is at ${JSON.stringify(await place())}`);
});

it('administrators read versions and change none', async ({ app, chat, provider }) => {
  provider.on('mine alone', says('one'), says('two'));
  await app.addUser('mara');
  const token = await app.token('mara');
  const session = await app.session('mine alone', token);
  const [, answer] = (await app.api('GET', `/sessions/${session.id}/messages`, undefined, token)).items;
  const { turn_id: again } = await app.api('POST', `/turns/${answer.turn_id}/retry`, undefined, token);
  await app.settled(again, token);
  const c = await chat();
  await c.page.goto(`${app.url}/s/${session.id}`);
  await c.shows('two', { exactly: true });
  await c.answer.locator('[data-versions]').getByText('2 / 2', { exact: true }).first().waitFor();
  for (const hook of ['edit', 'retry', 'continue', 'version-prev', 'version-next']) {
    assert.equal(await c.page.getByTestId(hook).count(), 0, `${hook} is offered`);
  }
});

it('versions, retry and edit work without scripts', async ({ app, visit, provider }) => {
  provider.on('by a form', says('formal'), says('formal again'));
  provider.on('changed by a form', says('formally changed'));
  const session = await app.session('by a form');
  const page = await visit({ javaScriptEnabled: false });
  const text = async () => (await page.locator('[data-testid=message] :is(.said, .parts)').allInnerTexts()).map((one) => one.trim());
  const settles = (...wanted) => eventually(async () => {
    await page.goto(`${app.url}/s/${session.id}`);
    return JSON.stringify(await text()) === JSON.stringify(wanted);
  }, `not ${wanted}`);
  await settles('by a form', 'formal');
  await sends(page, () => page.getByTestId('retry').click());
  await settles('by a form', 'formal again');
  await sends(page, () => page.getByTestId('version-prev').click());
  await settles('by a form', 'formal');
  await page.getByTestId('edit').click();
  await page.locator('form.edit textarea').fill(' ');
  await page.getByTestId('edit-save').click();
  await page.locator('form.edit [role=alert]').getByText(/empty/).waitFor();
  await page.locator('form.edit textarea').fill('changed by a form');
  await sends(page, () => page.getByTestId('edit-save').click());
  await settles('changed by a form', 'formally changed');
}, { allow: refused });

it('a retry in another tab takes away nothing of what somebody writes', async ({ app, chat, provider }) => {
  provider.on('what is asked', says('first'), says('second'));
  const session = await app.session('what is asked');
  const [, answer] = await app.messages(session.id);
  const c = await chat();
  await c.open(session.id);
  await c.questions.first().getByTestId('edit').click();
  await c.questions.first().locator('form.edit textarea').fill('half of a better question');
  const { turn_id: again } = await app.api('POST', `/turns/${answer.turn_id}/retry`);
  await app.settled(again);
  await c.page.getByText('second').waitFor();
  await c.page.locator('#composer-problem').getByText(/replaced by another version/).waitFor();
  assert.equal(await c.page.locator('#composer-text').inputValue(), 'half of a better question');
});

it('all of it fits a phone, light and dark', async ({ app, chat, provider }) => {
  provider.on('narrow', says('a'), says('', { chunks: ['b'], cut: true }));
  const session = await app.session('narrow');
  const [, answer] = await app.messages(session.id);
  const { turn_id: again } = await app.api('POST', `/turns/${answer.turn_id}/retry`);
  await app.settled(again);
  for (const theme of ['light', 'dark']) {
    const c = await chat({ width: 360, height: 700, theme });
    await c.open(session.id);
    await c.settled('interrupted');
    await c.questions.first().getByTestId('edit').click();
    await c.questions.first().locator('textarea').waitFor();
    await accessible(c.page, `versions on a phone, ${theme}`);
    await noSidewaysScroll(c.page, 'versions on a phone');
  }
});

it('an edit without a text is not sent, and says why', async ({ chat, provider }) => {
  provider.on('not to be blank', says('No.'));
  const c = await chat();
  await c.open();
  await c.ask('not to be blank');
  await c.page.getByTestId('edit').click();
  const form = c.page.locator('form.edit');
  await form.locator('textarea').fill('   ');
  await form.locator('textarea').press('Enter');
  await form.getByText(/the message is empty/i).waitFor();
  assert.equal(await c.questions.count(), 1);
}, { allow: refused });
