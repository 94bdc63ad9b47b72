/** Before any test: the generated files are those of the sources that are here now. */
import { generate } from '../../scripts/generate.ts';

export async function setup(): Promise<void> {
  await generate();
}
