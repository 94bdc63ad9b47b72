/** The facts in the tables of docs/errors.md that come from src/domain/errors/catalogue.ts; meaning and fix are written by hand. */
import { EXIT } from '../../src/cli/terminal/exit-code.ts';
import { ERRORS, type ErrorCode } from '../../src/domain/errors/errors.ts';

/** A row of an error: its code, the generated cells, and the two cells that are written by hand. */
const ROW = /^\| `([A-Z_]+)` \|.*?(\|[^|]*\|[^|]*\|)$/gm;

/** The page with new facts of each error; throws when an error has no row, or a row no error. */
export function renderErrors(page: string): string {
  const missing = new Set(Object.keys(ERRORS));
  const made = page.replaceAll(ROW, (_, code: string, prose: string) => {
    if (!missing.delete(code))
      throw new Error(`docs/errors.md: ${code} is unknown, or there twice`);
    return `${factsOf(code)}${prose}`;
  });
  if (missing.size > 0) throw new Error(`docs/errors.md has no row for ${[...missing].join(', ')}`);
  return made;
}

function factsOf(code: string): string {
  const { name, retryable, exit, status } = ERRORS[code as ErrorCode];
  return `| \`${code}\` | \`${name}\` | ${retryable ? 'yes' : 'no'} | ${EXIT[exit]} | ${status} `;
}
