// A jq filter over a kept output of JSON, on the output's page.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { calls, runs, says } from '../harness/provider.js';
import { accessible, noSidewaysScroll } from '../harness/axe.js';
import { eventually } from '../harness/eventually.js';

const it = suite();

const listing = `python3 -c "import json; print(json.dumps([{'id': n, 'name': '<b>\\u202e' + 'x' * 40} for n in range(3000)]))"`;

/** The page of the one output that a command leaves. */
async function pageOf(app, provider, key, command) {
  provider.on(key, ...runs(command));
  const { id } = await app.session(key);
  const [output] = await app.outputs(id);
  return `${app.url}/s/${id}/out/${output.id}`;
}

for (const javaScriptEnabled of [true, false]) {
  it(`is asked and answered ${javaScriptEnabled ? 'with' : 'without'} scripts`, async ({ app, provider, visit }) => {
    const address = await pageOf(app, provider, `a listing ${javaScriptEnabled}`, listing);
    const page = await visit({ javaScriptEnabled });
    await page.goto(`${address}?offset=4096`);
    const field = page.getByTestId('output-filter');
    const values = page.getByTestId('output-filtered');
    await field.fill('.[2995:][] | .id');
    await field.press('Enter');
    await values.waitFor();
    assert.equal(await values.textContent(), '2995\n2996\n2997\n2998\n2999\n');
    assert.equal(await field.inputValue(), '.[2995:][] | .id', 'the filter stays');
    assert.match(await page.getByTestId('output-query').innerText(), /5 values/);
    assert.match(page.url(), /offset=4096/);

    await field.fill('.[0]');
    await field.press('Enter');
    await page.waitForURL(/filter=\.%5B0/);
    await values.filter({ hasText: '<b>' }).waitFor(); // markup is text
    assert.equal(await values.locator('.ctl').count(), 1, 'what turns text around is shown as what it is');

    await field.fill('.[].nope |');
    await field.press('Enter');
    const alert = page.getByTestId('output-query').getByRole('alert');
    await alert.waitFor();
    assert.match(await alert.innerText(), /no jq filter: at its byte 10/);
    assert.equal(await values.count(), 0);
    await page.getByTestId('output-query').getByRole('link').click();
    await alert.waitFor({ state: 'detached' });
    assert.equal(await field.inputValue(), '');
  });
}

it('shows the beginning of what is long, and says so', async ({ app, provider, visit }) => {
  const address = await pageOf(app, provider, 'a long listing', listing);
  for (const width of [360, 1280]) {
    for (const theme of ['light', 'dark']) {
      const page = await visit({ width, theme });
      await page.goto(`${address}?filter=.`);
      await page.getByText(/These are the first 65,\d+ of [\d,]+ bytes/).waitFor();
      await accessible(page, `a filter’s values, ${theme} and ${width} wide`);
      await noSidewaysScroll(page, 'a filter’s values');
      await page.close();
    }
  }
});

it('is offered for JSON alone', async ({ app, provider, visit }) => {
  const page = await visit();
  const address = await pageOf(app, provider, 'plain lines', 'seq 1 20000');
  await page.goto(address);
  await page.getByTestId('output-pager').waitFor();
  assert.equal(await page.getByTestId('output-query').count(), 0);
});

it('refuses a copy that is incomplete', async ({ app, provider, visit }) => {
  const page = await visit();
  await page.goto(await pageOf(app, provider, 'a torn listing', `echo '['; head -c 12000000 /dev/zero | tr '\\0' '1' | fold -w 80; echo ']'`));
  await page.getByTestId('output-filter').fill('.');
  await page.getByTestId('output-filter').press('Enter');
  await page.getByTestId('output-query').getByRole('alert').filter({ hasText: /copy/ }).waitFor();
});

it('is asked in the card too, of a command and of a call within a script, and stays while one pages', async ({ chat, provider }) => {
  provider.on('a listing in a card', ...runs(listing));
  provider.on('a listing of a script', calls(['run_script', { code: `await tools.run_command({command: ${JSON.stringify(listing)}}); return 1` }]), says('Done.'));
  const c = await chat();
  await c.open();
  await c.ask('a listing in a card');
  const command = c.page.locator('[data-testid=tool-card][data-tool=run_command]').first();
  await c.unfold(command);
  await command.getByTestId('output-open').click();
  await inCard(c, command);

  await c.ask('a listing of a script');
  const script = c.page.locator('[data-testid=tool-card][data-tool=run_script]');
  await c.unfold(script);
  await script.locator('[data-nested] .tool-head').click();
  await inCard(c, script.locator('[data-nested]'));
});

/** Filters in an open card. */
async function inCard(c, card) {
  const field = card.getByTestId('output-filter');
  await field.fill('.[2998:][] | .id');
  await field.press('Enter');
  const values = card.getByTestId('output-filtered');
  await values.waitFor();
  assert.equal(await values.textContent(), '2998\n2999\n');
  await eventually(() => c.page.evaluate(() => document.activeElement.dataset.testid === 'output-filter'), 'the focus stays in the field');
  await accessible(c.page, 'a card with a filter');
  const text = card.getByTestId('output-text');
  await card.getByTestId('output-last').click();
  await text.filter({ hasText: '2999' }).waitFor();
  assert.equal(await values.textContent(), '2998\n2999\n', 'another page leaves the values');
  await field.fill('.[');
  await field.press('Enter');
  await card.getByTestId('output-query').getByRole('alert').waitFor();
  assert.equal(await values.count(), 0);
  await card.getByTestId('output-query').getByRole('link').click();
  await card.getByTestId('output-query').getByRole('alert').waitFor({ state: 'detached' });
  assert.equal(await card.getByTestId('output-query').count(), 1);
  assert.ok(c.page.url().includes('/s/'), 'all of it happened in the conversation');
}
