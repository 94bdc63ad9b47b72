/**
 * Writes docs/limits.md from src/domain/limits.ts, docs/acl.example from the Lua scripts,
 * docs/cli-output.md from src/cli/views/json-shapes.ts, the routes in docs/http.md, the reference in docs/configuration.md from
 * src/config/options.ts, the names of predecessors in docs/guide/coming-from.md, the table of decisions from their pages, the facts in docs/errors.md from
 * src/domain/errors/catalogue.ts, the tables of docs/redis-layout.md
 * from src/backends/redis/layout/, the rows in docs/file-format.md from
 * src/backends/memory/rows/model.ts, and the drawing in docs/lifecycle.md. `test/tidy/docs/docs.test.ts` and
 * `test/redis/faults/acl.test.ts` compare them with the code.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { renderAcl } from './acl-doc.ts';
import { loadDecisions, renderDecisions } from './adr-doc.ts';
import { renderConfiguration } from './config-doc.ts';
import { renderErrors } from './errors-doc.ts';
import { renderForeign } from './foreign-doc.ts';
import { renderLayout } from './layout-doc.ts';
import { renderLifecycle } from './lifecycle-doc.ts';
import { loadLimits, renderLimits } from './limits-doc.ts';
import { renderOutput } from './output-doc.ts';
import { renderRoutes } from './routes-doc.ts';
import { renderRows } from './rows-doc.ts';

const DOCS = new URL('../../docs/', import.meta.url);

mkdirSync(DOCS, { recursive: true });
writeFileSync(new URL('limits.md', DOCS), renderLimits(await loadLimits()));
writeFileSync(new URL('acl.example', DOCS), renderAcl());
writeFileSync(new URL('cli-output.md', DOCS), renderOutput());
const http = new URL('http.md', DOCS);
writeFileSync(http, renderRoutes(readFileSync(http, 'utf8')));
writeFileSync(new URL('adr/README.md', DOCS), renderDecisions(loadDecisions()));
const configuration = new URL('configuration.md', DOCS);
writeFileSync(configuration, renderConfiguration(readFileSync(configuration, 'utf8')));
const errors = new URL('errors.md', DOCS);
writeFileSync(errors, renderErrors(readFileSync(errors, 'utf8')));
const layout = new URL('redis-layout.md', DOCS);
writeFileSync(layout, renderLayout(readFileSync(layout, 'utf8')));
const fileFormat = new URL('file-format.md', DOCS);
writeFileSync(fileFormat, renderRows(readFileSync(fileFormat, 'utf8')));
const comingFrom = new URL('guide/coming-from.md', DOCS);
writeFileSync(comingFrom, renderForeign(readFileSync(comingFrom, 'utf8')));
const lifecycle = new URL('lifecycle.md', DOCS);
writeFileSync(lifecycle, renderLifecycle(readFileSync(lifecycle, 'utf8')));
