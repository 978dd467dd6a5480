// Tool cards: what ran, how it went, what it printed while it ran, what the model saw.

import assert from 'node:assert/strict';
import { suite } from '../harness/suite.js';
import { calls, gate, runs, says, untilLet } from '../harness/provider.js';

const it = suite();

it('a card names the command, its exit and its confinement', async ({ chat, provider }) => {
  provider.on('greet', ...runs('echo hello; echo trouble >&2'));
  provider.on('fail', ...runs('echo almost; exit 3'));
  const c = await chat();
  await c.open();
  await c.ask('greet');
  assert.equal(await c.card.getAttribute('data-state'), 'ok');
  assert.equal(await c.card.getAttribute('data-tool'), 'run_command');
  await c.unfold();
  const text = await c.card.innerText();
  assert.match(text, /echo hello/);
  assert.match(text, /exit 0/);
  assert.match(text, /hello/);
  assert.match(text, /trouble/);
  assert.match(text, /sandbox/i);
  assert.ok(!/truncated/i.test(text), 'a whole result has no badge');
  assert.equal(await c.card.getByTestId('coverage').count(), 0, 'a whole result has no bar');
  await c.ask('fail');
  assert.equal(await c.card.getAttribute('data-state'), 'error');
  assert.match(await c.card.innerText(), /exit 3/);
});

it('a cut result has its edge, its figures and its bar', async ({ chat, provider }) => {
  provider.on('count to 200000', ...runs('seq 1 200000', 'The last line is 200000.'));
  const c = await chat();
  await c.open();
  await c.ask('count to 200000');
  assert.equal(await c.card.getAttribute('data-state'), 'ok');
  await c.unfold();
  await c.card.locator('a.cut').waitFor();
  const text = await c.card.innerText();
  assert.match(text, /model saw\s+24,5\d\d\s+of\s+1,288,895\s+bytes/i);
  assert.match(text, /truncated/i);
  assert.ok(!/incomplete/i.test(text));
  const bar = c.card.getByTestId('coverage').first();
  assert.ok(await bar.locator('rect.read').count() >= 2, 'the bar shows the head and the tail');
  const shown = await c.preview.allTextContents();
  assert.ok(shown[0].startsWith('1\n2\n3\n'));
  assert.ok(shown.at(-1).trimEnd().endsWith('199999\n200000'));
  const cut = (await c.card.locator('a.cut').innerText()).match(/([\d,]+) bytes/)[1].replaceAll(',', '');
  const sum = shown.join('').length;
  assert.ok(Math.abs(sum + Number(cut) - 1288895) < 16, `head and tail ${sum}, left out ${cut}`);
});

it('a card says that the model saw its result when it has, and not before', async ({ chat, provider }) => {
  const thought = gate();
  provider.on('count and wait', calls(['run_command', { command: 'seq 1 200000' }]), says('Counted.', { hold: { after: 0, gate: thought } }));
  const c = await chat();
  await c.open();
  await c.say('count and wait');
  await c.card.and(c.page.locator('[data-state=ok]')).waitFor();
  await c.unfold();
  await c.card.getByText(/model saw\s+none\s+of\s+1,288,895\s+bytes/i).waitFor();
  assert.match(await c.card.locator('.covmini').innerText(), /unread/);
  thought.open();
  await c.settled();
  await c.card.getByText(/model saw\s+24,5\d\d\s+of\s+1,288,895\s+bytes/i).waitFor();
  assert.ok(!/unread/.test(await c.card.locator('.covmini').innerText()));
});

it('what a command prints is seen while it runs', async ({ app, chat, provider }) => {
  provider.on('print as you go', ...runs(`for i in 1 2 3; do echo part $i; sleep 0.4; done; ${untilLet}`));
  const c = await chat();
  await c.open();
  await c.say('print as you go');
  await c.live.getByText('part 1').first().waitFor();
  assert.equal(await c.card.getAttribute('data-state'), 'running');
  assert.ok(await c.card.getByTestId('tool-stop').isVisible());
  await c.live.getByText('part 3').first().waitFor();
  assert.equal(await c.card.getAttribute('data-state'), 'running');
  await app.letGo(c.sessionID);
  await c.settled();
  assert.equal(await c.card.getAttribute('data-state'), 'ok');
});

it('a page that comes while a command runs shows what it printed so far', async ({ app, chat, provider }) => {
  provider.on('print then wait', ...runs(`echo early words; ${untilLet}; echo late words`));
  const c = await chat();
  await c.open();
  await c.say('print then wait');
  await c.live.getByText('early words').first().waitFor();
  await c.page.reload();
  await c.live.getByText('early words').first().waitFor();
  assert.equal(await c.card.getAttribute('data-state'), 'running');
  await app.letGo(c.sessionID);
  await c.settled();
  await c.unfold();
  assert.match(await c.card.innerText(), /early words\s+late words/);
});

it('live output is shown as a terminal shows it: colours, overwritten lines', async ({ app, chat, provider }) => {
  const command = [
    "printf '\\033[31mred words\\033[0m plain\\n'",
    "printf '\\033[38;2;200;0;0mtrue colour\\033[0m\\n'",
    "for i in $(seq 1 50); do printf '\\rprogress %d' $i; done; echo",
    "printf '\\033[?25lhidden cursor\\033[?25h\\n'",
    untilLet,
  ].join('; ');
  provider.on('in colour', ...runs(command));
  const c = await chat();
  await c.open();
  await c.say('in colour');
  await c.live.getByText('hidden cursor').first().waitFor();
  for (const when of ['live', 'finished']) {
    const output = (when === 'live' ? c.live : c.preview).first();
    const text = await output.innerText();
    assert.ok(!text.includes('\u001b') && !text.includes('[31m') && !text.includes('[38;2') && !text.includes('25l'), `${when}: ${JSON.stringify(text)}`);
    assert.match(text, /red words plain/, when);
    assert.match(text, /progress 50\s*\n/, when);
    assert.ok(!text.includes('progress 49'), `${when}: overwritten text is shown`);
    if (when === 'finished') break;
    const [red, plain] = await output.evaluate((node) => {
      const colour = (words) => {
        const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
          if (walker.currentNode.data.includes(words)) return getComputedStyle(walker.currentNode.parentElement).color;
        }
        return null;
      };
      return [colour('red words'), colour('plain')];
    });
    assert.ok(red && red !== plain, `red words are ${red}, plain ones ${plain}`);
    await app.letGo(c.sessionID);
    await c.settled();
    await c.unfold();
  }
});

it('text that a tool printed is text, whatever it looks like', async ({ app, chat, provider }) => {
  const hostile = '<THOUGHT> <br> <script>alert(1)</script> &lt; &amp;';
  provider.on('print markup', ...runs(`printf '%s\\n' '${hostile}'; ${untilLet}`));
  const c = await chat();
  await c.open();
  await c.say('print markup');
  await c.live.getByText('<THOUGHT>').first().waitFor();
  assert.ok((await c.live.textContent()).includes(hostile), 'live');
  await app.letGo(c.sessionID);
  await c.settled();
  await c.unfold();
  assert.ok((await c.preview.first().textContent()).includes(hostile), 'finished');
  assert.equal(await c.card.locator('script, br').count(), 0);
});

it('arguments with markup are text too', async ({ chat, provider }) => {
  provider.on('markup in arguments', calls(['write_file', { path: '<img src=x onerror=alert(1)>.txt', content: '<b>bold?</b>\n' }]), says('Written.'));
  const c = await chat();
  await c.open();
  await c.ask('markup in arguments');
  await c.unfold();
  assert.equal(await c.card.locator('img, b:text-is("bold?")').count(), 0);
  assert.match(await c.card.innerText(), /onerror/);
});

it('a written and an edited file are shown as a diff', async ({ chat, provider }) => {
  provider.on('write it', calls(['write_file', { path: 'a.txt', content: 'one\ntwo\nthree\n' }]), says('Written.'));
  provider.on('edit it', calls(['edit_file', { path: 'a.txt', old_string: 'two', new_string: '2' }]), says('Edited.'));
  const c = await chat();
  await c.open();
  await c.ask('write it');
  await c.unfold();
  assert.match(await c.card.innerText(), /\+\s*one/);
  await c.ask('edit it');
  await c.unfold();
  const diff = await c.card.innerText();
  assert.match(diff, /[-−]\s*two/);
  assert.match(diff, /\+\s*2/);
});

it('calls that run side by side have cards in the order of the calls', async ({ chat, provider }) => {
  provider.on('three at once', calls(
    ['run_command', { command: 'sleep 0.6; echo slow' }],
    ['run_command', { command: 'echo quick' }],
    ['run_command', { command: 'sleep 0.2; echo middling' }],
  ), says('All three.'));
  const c = await chat();
  await c.open();
  await c.ask('three at once');
  const order = async () => Promise.all((await c.cards.all()).map(async (card) => (await card.innerText()).match(/echo (\w+)/)[1]));
  assert.deepEqual(await order(), ['slow', 'quick', 'middling']);
  await c.page.reload();
  assert.deepEqual(await order(), ['slow', 'quick', 'middling']);
  const results = provider.sent('three at once').at(-1).messages.filter((m) => m.role === 'tool').map((m) => m.content.trim().split('\n').at(-1));
  assert.deepEqual(results, ['slow', 'quick', 'middling']);
});

it('a tool that could not do what was asked is an error card with the reason', async ({ chat, provider }) => {
  provider.on('read nothing', calls(['read_file', { path: 'not-there.txt' }]), says('It is not there.'));
  provider.on('call the unknown', calls(['make_coffee', { sugar: 2 }]), says('No coffee.'));
  const c = await chat();
  await c.open();
  await c.ask('read nothing');
  assert.equal(await c.card.getAttribute('data-state'), 'error');
  assert.match(await c.card.innerText(), /^Could not read\s+not-there\.txt/);
  await c.unfold();
  assert.match(await c.card.innerText(), /not-there\.txt/);
  await c.ask('call the unknown');
  assert.equal(await c.card.getAttribute('data-state'), 'error');
  assert.match(await c.text(), /No coffee/);
});

it('one endless line of live output neither widens the page nor fills it', async ({ app, chat, provider }) => {
  provider.on('one huge line', ...runs(`head -c 5000000 /dev/zero | tr '\\0' x; ${untilLet}`));
  const c = await chat();
  await c.open();
  await c.say('one huge line');
  await c.live.getByText('xxxxxxxx').first().waitFor();
  const state = await c.page.evaluate(() => ({
    sideways: document.documentElement.scrollWidth > document.documentElement.clientWidth,
    letters: document.querySelector('[data-testid=tool-card] .term').textContent.length,
  }));
  assert.equal(state.sideways, false);
  assert.ok(state.letters <= 70000, `${state.letters} characters of live output are kept in the page`);
  await app.letGo(c.sessionID);
  await c.settled();
});

it('ten thousand lines stay a small page', async ({ app, chat, provider }) => {
  provider.on('ten thousand lines', ...runs(`for i in $(seq 1 10000); do echo "line $i of many"; done; ${untilLet}`));
  const c = await chat();
  await c.open();
  await c.say('ten thousand lines');
  await c.live.getByText('line 10000 of many').first().waitFor();
  const nodes = () => c.page.evaluate(() => document.querySelectorAll('*').length);
  assert.ok(await nodes() < 5000, `${await nodes()} elements while it runs`);
  await app.letGo(c.sessionID);
  await c.settled();
  await c.unfold();
  assert.ok(await nodes() < 5000, `${await nodes()} elements when it ended`);
});

it('reasoning is folded and kept', async ({ chat, provider }) => {
  provider.on('think first', says('The answer.', { reasoning: 'Let me think about it.' }));
  const c = await chat();
  await c.open();
  await c.ask('think first');
  assert.equal(await c.text(), 'The answer.');
  await c.page.reload();
  assert.match(await c.answer.evaluate((a) => a.textContent), /Let me think about it\./);
});

it('a flood of output leaves the page quick and small', async ({ chat, provider }) => {
  provider.on('flood me', ...runs('yes "a line of the flood"', 'Dry again.', { timeout_s: 12 }));
  const c = await chat();
  await c.open();
  await c.say('flood me');
  await c.live.getByText('a line of the flood').first().waitFor();
  const { worst: slowest, letters } = await c.page.evaluate(async () => {
    let worst = 0;
    const end = performance.now() + 2000;
    while (performance.now() < end) {
      const began = performance.now();
      await new Promise((resolve) => { setTimeout(resolve, 10); });
      worst = Math.max(worst, performance.now() - began);
    }
    return { worst, letters: document.querySelector('.term[data-live]').textContent.length };
  });
  assert.ok(slowest < 1000, `the page stood still for ${slowest} ms`);
  assert.ok(letters <= 70000, `${letters} characters`);
  await c.settled();
  assert.equal(await c.text(), 'Dry again.');
  await c.unfold();
  assert.match(await c.card.innerText(), /timed out/i);
});
