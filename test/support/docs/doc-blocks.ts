/** The fenced code blocks of the pages that people read. */
import { filesBelow, read } from '../files.ts';

/** One fenced block. */
export interface DocBlock {
  readonly page: string;
  /** Line of the fence, from 1. */
  readonly line: number;
  /** The word after the fence: `js`, `ts`, `sh`…; empty when there is none. */
  readonly language: string;
  /** The file name in the comment on the first line: `// hello.mjs`, `# fairloom.yaml`. */
  readonly file: string | undefined;
  readonly text: string;
}

/** Every page: README and its sisters, and all of docs/. */
export function docPages(): readonly string[] {
  const top = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
  return [...top, ...filesBelow('docs', /\.md$/)];
}

/** The blocks of one page, in order. */
export function blocksOf(page: string): readonly DocBlock[] {
  const lines = read(page).split('\n');
  const blocks: DocBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    const language = /^```(\w*)$/.exec(lines[at] ?? '')?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf('```', at + 1);
    if (end === -1) throw new Error(`${page}:${at + 1}: this block has no end`);
    const text = lines.slice(at + 1, end).join('\n');
    const file = /^(?:\/\/|#) ([\w-]+\.[a-z.]+)\b/.exec(text)?.[1];
    blocks.push({ page, line: at + 1, language, file, text: `${text}\n` });
    at = end;
  }
  return blocks;
}

/** What a block says that it prints: the text after `// prints `, in order. */
export function printsOf({ text }: DocBlock): readonly string[] {
  return [...text.matchAll(/\/\/ prints (.+)$/gm)].map((match) => match[1] ?? '');
}

/** What is left of stderr without the lines of the log about work that fails, as some examples show. */
export function beyondFailures(stderr: string): string {
  return stderr.replaceAll(/^fairloom (?:warn attempt|error task)\.failed: .*\n/gm, '');
}
