/** What the tables of docs/errors.md repeat of src/domain/errors/catalogue.ts; what an error means is written there. */
import { EXIT } from '../../src/cli/terminal/exit-code.ts';
import { ERRORS, type ErrorCode } from '../../src/domain/errors/errors.ts';

/** A row of an error: its code, what stands between, and the two cells that people write. */
const ROW = /^\| `([A-Z_]+)` \|.*?(\|[^|]*\|[^|]*\|)$/gm;

/** The page with the facts of each error made anew; throws when an error has no row, or a row no error. */
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
