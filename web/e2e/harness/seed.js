// Long conversations without a model: a session is imported as the file that an
// export would be, over the API.

const spoken = new Date('2026-03-01T09:30:00Z').getTime();

/** One turn: what a person said and what came of it, messages as a file has them. */
export function turn(question, ...rest) {
  return [{ role: 'user', content: question }, ...rest];
}

/** A reply. */
export const replies = (content, more = {}) => ({ role: 'assistant', content, ...more });

/** A reply that calls one command, and its result. */
export function ran(id, command, printed, more = {}) {
  return [
    { role: 'assistant', content: '', ...more, tool_calls: [{ id, name: 'run_command', arguments: JSON.stringify({ command }) }] },
    { role: 'tool', tool_call_id: id, content: printed, metadata: { is_error: false, truncated: false, exit_code: 0 } },
  ];
}

/** A conversation of n messages, half of them questions, told apart by their numbers. */
export function conversation(n, answer = (i) => `Answer ${i} has **bold** words and \`code\`.`) {
  return Array.from({ length: n / 2 }, (_, i) => turn(`Question number ${i + 1}.`, replies(answer(i + 1))));
}

/** The file of turns. */
export function exported(turns, title = 'Imported') {
  const messages = turns.flatMap((said, t) => said.map((message, i) => ({
    ...message, id: `m${t}_${i}`, turn_id: `t${t}`, state: 'done', created_at: new Date(spoken + t * 1000).toISOString(),
  })));
  return { format: 'offcut-session', version: 1, session: { title, model: '' }, messages };
}

/** A new session of these turns; a request of the API has at most 8 MiB. */
export const seeded = (app, turns, title) => app.api('POST', '/import', exported(turns, title));
