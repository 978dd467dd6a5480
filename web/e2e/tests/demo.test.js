import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';

const it = suite({ demo: true });

it('the three examples of the empty page work one after the other', async ({ chat }) => {
  const c = await chat();
  await c.open();
  const examples = await c.page.locator('.try button').allTextContents();
  assert.equal(examples.length, 3);
  await c.page.locator('.try button').first().click();
  await c.send.click();
  await c.page.waitForURL(/\/s\//);
  await c.settled('done', 1);
  assert.match(await c.text(), /200000/);
  assert.equal(await c.card.getAttribute('data-state'), 'ok');

  await c.ask('Write notes.txt, then read it at line 2');
  assert.deepEqual(
    await c.cards.evaluateAll((cards) => cards.map((card) => card.dataset.tool)),
    ['run_command', 'write_file', 'read_file'],
  );
  await c.ask('Find “199999” in the last kept output');
  assert.equal(await c.card.getAttribute('data-tool'), 'search_tool_output');
  assert.match(await c.text(), /199999/);
});

it('each example of the empty page can be the first thing that is asked', async ({ chat }) => {
  for (const i of [0, 1, 2]) {
    const c = await chat();
    await c.open();
    await c.page.locator('.try button').nth(i).click();
    await c.send.click();
    await c.page.waitForURL(/\/s\//);
    await c.settled('done', 1);
    assert.ok((await c.text()).length > 0);
    assert.equal(await c.cards.locator('xpath=self::*[@data-state="error"]').count(), 0, `example ${i + 1} fails`);
  }
});

it('the demo model says what it is in its first answer', async ({ chat }) => {
  const c = await chat();
  await c.open();
  await c.ask('Hello');
  assert.match(await c.text(), /demo model/i);
});
