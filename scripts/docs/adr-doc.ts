/** The text of docs/adr/README.md: the decisions, each with its status and date. */
import { readdirSync, readFileSync } from 'node:fs';

/** One decision, as the head of its page says it. */
export interface Decision {
  readonly file: string;
  readonly number: number;
  readonly title: string;
  /** "accepted", or what superseded it, as Markdown. */
  readonly status: string;
  /** The day on which it was written down, as YYYY-MM-DD. */
  readonly date: string;
}

const FOLDER = new URL('../../docs/adr/', import.meta.url);
const LINK = String.raw`\[ADR \d+\]\(\d{4}-[a-z-]+\.md\)`;
const STATUS = `accepted|superseded(?: in part)? by ${LINK}(?: and ${LINK})*(?:: .+)?`;
const HEAD = new RegExp(
  String.raw`^# (\d+)\. (.+)\n\n- Status: (${STATUS})\n- Date: (\d{4}-\d{2}-\d{2})\n\n`,
);

/** All of them, in order; throws when the head of a page is not as it should be. */
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
    'Why it is so. Each page has context, decision and price, and stays as it was written; its status',
    'says what has come after it. `npm run docs` makes this table of them.',
    '',
    '| | Decision | Status | Date |',
    '|---:|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
