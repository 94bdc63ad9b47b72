/**
 * Writes docs/limits.md from src/domain/limits.ts, and docs/acl.example from the Lua scripts.
 * `test/tidy/docs.test.ts` and `test/redis/faults-acl.test.ts` hold them to the code.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { renderAcl } from './acl-doc.ts';
import { loadLimits, renderLimits } from './limits-doc.ts';

const DOCS = new URL('../docs/', import.meta.url);

mkdirSync(DOCS, { recursive: true });
writeFileSync(new URL('limits.md', DOCS), renderLimits(await loadLimits()));
writeFileSync(new URL('acl.example', DOCS), renderAcl());
