// A conversation as its model was last sent it, beside the conversation as people
// see it. The scripted model records what it was sent: the page says just that.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { calls, gate, runs, says } from '../harness/provider.js';
import { accessible, noSidewaysScroll } from '../harness/axe.js';
import { eventually } from '../harness/eventually.js';

const it = suite({ env: { OFFCUT_MODEL_CONTEXT_TOKENS: '24000' } });

/** The rows of the page as the model's side says them, whole. */
const sentRows = (page) => page.getByTestId('model-row').evaluateAll((rows) => rows
  .filter((row) => /^\d+$/.test(row.dataset.place))
  .map((row) => {
    const text = (name) => row.querySelector(`[data-testid=${name}]`)?.textContent;
    const meta = text('sent-meta');
    const body = (text('sent-body') ?? '') + (text('sent-tail') ?? '');
    return { role: row.querySelector('[data-testid=model-sent] .mv-role b').textContent.trim(), content: meta === undefined ? body : `${meta}\n${body}` };
  }));

/** Brings in all that a row shows only the beginning of. */
async function whole(page) {
  const more = page.getByTestId('model-whole');
  while (await more.count() > 0) {
    const before = await more.count();
    await more.first().click();
    await eventually(async () => await more.count() < before, 'the rest of a text does not come');
  }
}

const conversation = (request) => request.messages.filter(({ role }) => role !== 'system')
  .map(({ role, content }) => ({ role, content: content ?? '' }));

const people = (page, place) => page.locator(`[data-place="${place}"]`).getByTestId('people-see');
const model = (page, place) => page.locator(`[data-place="${place}"]`).getByTestId('model-sent');

it('shows both sides, pruned and hidden parts among them', async ({ app, chat, provider }) => {
  provider.on('many lines', runs('seq 1 9000', 'There they are, <b>all</b>.'));
  provider.on('cut it off', says('This goes ', { finish: 'length' }), says('on.'));
  provider.on('more of it', calls(['run_command', { command: 'seq 1 9000' }]), calls(['run_command', { command: 'seq 3 9000' }]),
    calls(['run_command', { command: 'seq 4 9000' }]), calls(['list_files', { path: '.' }]), says('That was more.'));
  const c = await chat();
  await c.open();
  await c.ask('many lines <script>alert(1)</script>');
  await c.ask('cut it off');
  await c.ask(`more of it: ${'word '.repeat(12000)}`);
  await c.page.getByTestId('meter').click();
  await c.page.waitForURL(/\/model$/);
  const { page } = c;
  await accessible(page, 'the two views');
  const last = provider.requests.at(-1);
  assert.match(await page.getByTestId('request-facts').innerText(), /100 tokens sent to scripted · \d+ results? pruned · 1 message people never see/);

  assert.match(await people(page, 0).innerText(), /many lines <script>alert\(1\)<\/script>/);
  assert.match(await people(page, 'instructions').innerText(), /People never see this/);
  const texts = await page.getByTestId('people-see').allInnerTexts();
  assert.ok(texts.some((text) => text.includes('This goes on.') && text.includes('one answer on the screen')), 'people see one answer');
  assert.ok(texts.some((text) => text.includes('Part of the answer above.')), 'its second part is no answer of its own');
  assert.ok(texts.some((text) => /seq 1 9000/.test(text) && /with the pager over all/.test(text)), 'a call is a card');
  assert.equal(await page.locator('.mv .prune, .mv .cut').first().isVisible(), true, 'what was pruned is marked');
  await page.getByText('The model wrote this as its answer').waitFor();

  await whole(page);
  assert.deepEqual(await sentRows(page), conversation(last));
  assert.equal(await model(page, 'instructions').getByTestId('sent-body').textContent(), last.messages[0].content);
  const tools = (await model(page, 'tools').getByTestId('sent-body').textContent()).split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(tools.map(({ name }) => name), last.tools.map((tool) => tool.function.name));

  await page.setViewportSize({ width: 360, height: 720 });
  await accessible(page, 'the two views on a telephone');
  await noSidewaysScroll(page, 'the two views on a telephone');
  await page.getByTestId('model-view-close').click();
  await page.waitForURL(`${app.url}/s/${c.sessionID}`);
});

it('an earlier request can be chosen', async ({ app, provider, visit }) => {
  provider.on('first this', says('One.'));
  provider.on('then that', says('Two.'));
  const { id } = await app.session('first this');
  await app.say(id, 'then that');
  const page = await visit();
  await page.goto(`${app.url}/s/${id}/model`);
  await page.getByRole('columnheader', { name: 'As the model was last sent it' }).waitFor();
  assert.equal((await sentRows(page)).length, 3);
  await page.getByTestId('model-request').selectOption({ index: 1 });
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.getByRole('columnheader', { name: 'As the model was sent it then' }).waitFor();
  assert.deepEqual(await sentRows(page), [{ role: 'user', content: 'first this' }]);
});

it('while a turn runs it tells what that was sent; what is long comes on demand', async ({ chat, provider }) => {
  const rest = gate();
  provider.on('a word', says('Yes.'));
  provider.on('hold on', says('', { chunks: ['Well', ' then.'], hold: { after: 1, gate: rest } }));
  const c = await chat();
  await c.open();
  for (let n = 0; n < 22; n += 1) await c.ask(`a word ${n}`);
  await c.say('hold on');
  await c.shows('Well');
  const { page } = c;
  await page.goto(`${page.url()}/model`);
  await page.getByText('The model is writing this now.').waitFor();
  assert.equal((await sentRows(page)).length, 40);
  await page.getByTestId('model-earlier').click();
  await eventually(async () => (await sentRows(page)).length === 45, 'the earlier messages do not come');
  assert.deepEqual(await sentRows(page), conversation(provider.requests.at(-1)));
  rest.open();
});

it('a chat of which nothing was sent says so', async ({ app, visit }) => {
  const { id } = await app.api('POST', '/sessions', {});
  const page = await visit();
  await page.goto(`${app.url}/s/${id}/model`);
  await page.getByText('No model was sent anything of this chat yet').waitFor();
  await accessible(page, 'a view of nothing');
});
