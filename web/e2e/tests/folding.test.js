// A card is unfolded and folded, as often as one likes.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { runs } from '../harness/provider.js';

const it = suite();

it('a card is unfolded and folded by mouse and by key, streamed or loaded', async ({ chat, provider }) => {
  provider.on('fold it', ...runs('echo inside the card'));
  const c = await chat();
  await c.open();
  await c.ask('fold it');
  for (const when of ['streamed', 'loaded']) {
    const head = c.card.locator('[aria-expanded]').first();
    const inside = c.card.locator('.tool-body').first();
    await c.unfold();
    assert.match(await inside.innerText(), /inside the card/, when);
    for (const turn of [() => head.click(), () => head.press('Enter'), () => head.press('Space')]) {
      const before = await head.getAttribute('aria-expanded');
      await turn();
      const after = before === 'true' ? 'false' : 'true';
      await c.card.locator(`[aria-expanded=${after}]`).first().waitFor();
      await inside.waitFor({ state: after === 'true' ? 'visible' : 'hidden' });
    }
    await c.page.reload();
  }
});
