// The chat page as a person meets it. Everything is found by the stable hooks of
// the interface, so that a change of looks breaks no test.

import assert from 'node:assert/strict';
import { eventually } from './eventually.js';

/** The text of an answer as it stands on the page: its parts, without names, times and cards. */
const answerText = (article) => [...article.querySelectorAll('.part')]
  .map((part) => [...part.querySelectorAll(':scope > .prose')].map((prose) => prose.textContent).join(''))
  .join('').trim();

export class Chat {
  constructor(page, base) {
    this.page = page;
    this.base = base;
    this.composer = page.getByTestId('composer');
    this.box = this.composer.locator('textarea');
    this.send = page.getByTestId('send');
    this.stop = page.getByTestId('stop');
    this.questions = page.locator('[data-testid=message][data-role=user]');
    this.answers = page.locator('[data-testid=message][data-role=assistant]');
    this.answer = this.answers.last();
    this.cards = page.getByTestId('tool-card');
    this.card = this.cards.last();
    this.live = this.card.locator('.term[data-live]'); // what the last card's tool prints
    this.preview = this.card.locator('.out .pre'); // the pieces of its result
  }

  get sessionID() {
    return new URL(this.page.url()).pathname.match(/\/s\/([^/]+)/)?.[1];
  }

  async open(sessionID) {
    await this.page.goto(this.base + (sessionID ? `/s/${sessionID}` : '/'));
    await this.composer.waitFor();
  }

  /** Types a message and sends it with Enter; the page is then that of the session. */
  async say(text) {
    const fresh = !this.sessionID;
    await this.box.fill(text);
    await this.box.press('Enter');
    if (fresh) await this.page.waitForURL(/\/s\/[^/]+$/);
  }

  /** Sends a message and waits until its answer has come to its end. */
  async ask(text, state = 'done') {
    const before = await this.questions.count();
    await this.say(text);
    await this.page.waitForFunction((n) => document.querySelectorAll('[data-testid=message][data-role=user]').length > n, before);
    await this.settled(state, before + 1);
  }

  /** Waits until the last answer, the nth of its session where n is given, is in a state. */
  async settled(state = 'done', n = 1) {
    await this.page.waitForFunction(([wanted, count]) => {
      const all = document.querySelectorAll('[data-testid=message][data-role=assistant]');
      return all.length >= count && all[all.length - 1].dataset.state === wanted;
    }, [state, n]);
  }

  async text(article = this.answer) {
    return article.evaluate(answerText);
  }

  /** Waits until the last answer's text holds, or is exactly, something. */
  async shows(wanted, { exactly = false } = {}) {
    let text = '';
    await eventually(async () => {
      text = await this.answers.count() ? await this.text() : '(no answer)';
      return exactly ? text === wanted : text.includes(wanted);
    }, () => `the answer never showed ${JSON.stringify(wanted)}; it shows ${JSON.stringify(text)}`);
  }

  /** Unfolds a card where it is folded and waits for what is in it. */
  async unfold(card = this.card) {
    const head = card.locator('[aria-expanded]').first();
    if (await head.getAttribute('aria-expanded') === 'false') await head.click();
    await card.locator('[aria-expanded=true]').first().waitFor();
    await eventually(async () => !/^\s*(Loading …|加载中……)\s*$/.test(await card.locator('.tool-body').first().innerText()), 'the card stays empty');
    return card;
  }

  /** Opens the pager of a card's kept output, by its cut edge where it has one. */
  async openPager(card = this.card) {
    await this.unfold(card);
    const pager = new Pager(card);
    const cut = card.locator('a.cut').first();
    const open = card.getByTestId('output-open');
    await pager.root.or(cut).or(open).first().waitFor();
    if (!(await pager.root.isVisible())) await ((await cut.isVisible()) ? cut : open).click();
    await pager.text.waitFor();
    return pager;
  }

}

/** The pages of one kept output, in a card or on a page of their own. */
export class Pager {
  constructor(within) {
    this.root = within.getByTestId('output-pager').first();
    this.text = this.root.getByTestId('output-text');
    this.first = this.root.getByTestId('output-first');
    this.prev = this.root.getByTestId('output-prev');
    this.next = this.root.getByTestId('output-next');
    this.last = this.root.getByTestId('output-last');
    this.search = this.root.getByTestId('output-search');
    this.position = this.root.locator('.pos').first();
    this.byte = this.root.getByTestId('output-goto');
    this.hits = this.root.getByTestId('output-hits');
  }

  /** The page, byte for byte. */
  content() {
    return this.text.evaluate((node) => node.textContent);
  }

  /** Does something that turns the page, and waits for the other page. */
  async turn(action) {
    const before = await this.position.textContent();
    await action();
    await eventually(async () => (await this.position.textContent()) !== before, `no page came but ${before}`);
  }

  /** Follows Next from where it stands to the end and joins the pages. */
  async rest() {
    let text = await this.content();
    while (await this.more()) {
      await this.turn(() => this.next.click());
      text += await this.content();
    }
    return text;
  }

  /** Whether Next leads on. */
  async more() {
    const [disabled, aria] = [await this.next.isDisabled(), await this.next.getAttribute('aria-disabled')];
    return !disabled && aria !== 'true';
  }

  /** The byte offsets that the position line names: start, end, total. */
  async range() {
    const figures = (await this.position.textContent()).match(/\d[\d,]*/g).map((n) => Number(n.replaceAll(',', '')));
    assert.equal(figures.length, 3, `the position names a start, an end and a total: ${figures}`);
    return figures;
  }
}
