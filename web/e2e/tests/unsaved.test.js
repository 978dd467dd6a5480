// A result whose copy could not be stored, as a person sees it.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { suite } from '../harness/suite.js';
import { runs } from '../harness/provider.js';

const folder = mkdtempSync(join(tmpdir(), 'offcut-e2e-'));
const config = join(folder, 'offcut.yaml');
writeFileSync(config, 'limits:\n  storagePerUserBytes: 1048576\n');
after(() => rmSync(folder, { recursive: true, force: true }));

const it = suite({ env: { OFFCUT_CONFIG: config } });

it('the card shows the preview, says that the rest is lost and why, and offers no pages', async ({ chat, provider }) => {
  provider.on('more than fits', ...runs('seq 1 400000', 'I know only the preview.'));
  const c = await chat();
  await c.open();
  await c.ask('more than fits');
  assert.equal(await c.text(), 'I know only the preview.');
  await c.unfold();
  const text = await c.card.innerText();
  assert.match(text, /could not be saved/i);
  assert.match(text, /storage|space|limit/i, 'the reason');
  assert.match(await c.preview.first().textContent(), /^1\n2\n3\n/);
  assert.match(await c.preview.last().textContent(), /400000\n$/);
  assert.equal(await c.card.locator('a.cut').count(), 0, 'a cut edge that opens nothing');
  assert.match(await c.card.getByTestId('output-incomplete').first().innerText(), /[\d,]+ bytes/);
  assert.equal(await c.card.getByTestId('output-pager').count(), 0);
});
