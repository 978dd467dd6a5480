// Accessibility as a machine can check it: axe over the whole page, by the rules
// of WCAG 2.2 at levels A and AA.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Fails where axe finds a fault on the page as it stands; `rules` names those to look at instead of all. */
export async function accessible(page, what, rules) {
  await page.evaluate(source); // a script element would be refused by the content security policy
  const runOnly = rules ? { type: 'rule', values: rules } : { type: 'tag', values: tags };
  const violations = await page.evaluate(async (only) => {
    const result = await globalThis.axe.run(document, { runOnly: only, resultTypes: ['violations'] });
    return result.violations.map(({ id, help, nodes }) => ({
      id, help, nodes: nodes.slice(0, 5).map((n) => `${n.target.join(' ')}: ${n.failureSummary?.split('\n').slice(1).join('; ')}`),
    }));
  }, runOnly);
  assert.deepEqual(violations, [], `axe: ${what}`);
}

/** Fails where the page can be scrolled sideways. */
export async function noSidewaysScroll(page, what) {
  const wide = await page.evaluate(() => {
    const root = document.documentElement;
    if (root.scrollWidth <= root.clientWidth) return null;
    const culprits = [...document.querySelectorAll('body *')]
      .filter((node) => node.getBoundingClientRect().right > root.clientWidth + 1)
      .map((node) => `${node.tagName}.${node.className}`).slice(0, 5);
    return { scrollWidth: root.scrollWidth, clientWidth: root.clientWidth, culprits };
  });
  assert.equal(wide, null, `${what} scrolls sideways: ${JSON.stringify(wide)}`);
}
