/** The text of docs/adr/README.md: the decisions, each with its status and date. */
import { readdirSync, readFileSync } from 'node:fs';

/** One decision, from the head of its page. */
export interface Decision {
  readonly file: string;
  readonly number: number;
  readonly title: string;
  /** "accepted", and the decisions that change it, as Markdown. */
  readonly status: string;
  /** The day on which it was written down, as YYYY-MM-DD. */
  readonly date: string;
}

const FOLDER = new URL('../../docs/adr/', import.meta.url);
const HEAD = /^# (\d+)\. (.+)\n\n- Status: (.+)\n- Date: (\d{4}-\d{2}-\d{2})\n\n/;

/** All of them, in order; throws when the head of a page is invalid. */
export function loadDecisions(): readonly Decision[] {
  const files = readdirSync(FOLDER).filter((file) => /^\d{4}-.+\.md$/.test(file));
  return files.toSorted().map((file) => {
    const head = HEAD.exec(readFileSync(new URL(file, FOLDER), 'utf8'));
    if (head === null) throw new Error(`docs/adr/${file}: begin with title, status and date`);
    const [, number, title = '', status = '', date = ''] = head;
    return { file, number: Number(number), title, status, date };
  });
}

export function renderDecisions(decisions: readonly Decision[]): string {
  const rows = decisions.map(
    ({ file, number, title, status, date }) =>
      `| ${number} | [${title}](${file}) | ${status} | ${date} |`,
  );
  return [
    '# Decisions',
    '',
    'Each page has context, decision and price. A decision that another one replaces is folded into that one, and its',
    'number is not used again. `npm run docs` makes this table.',
    '',
    '| | Decision | Status | Date |',
    '|---:|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
