/**
 * Writes the API reference of the site from the docstrings, with TypeDoc, into docs/api/, which is
 * not committed. Exits 1 when a link in a docstring is broken.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Application, type ProjectReflection, type Reflection, type TypeDocOptions } from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';
import { ROOT } from '../run.ts';
import { API_PAGES, type ApiPage } from './api-pages.ts';

const OUT = `${ROOT}docs/api`;
/** Where the entry points of TypeDoc are: one for each page. */
const ENTRIES = `${ROOT}temp/api-entries`;

/** An entry point only lists the exports of others; `test/tidy/style.test.ts` checks it. */
const STATEMENT = /export\s+(?:type\s+)?\{[^}]*\}\s*from\s*'([^']+)';/g;

writeEntries();
const app = await Application.bootstrapWithPlugins(options());
const project = await app.convert();
if (project === undefined) throw new Error('TypeDoc gave nothing');
linkAcrossPages(project);
app.validate(project);
rmSync(OUT, { recursive: true, force: true });
await app.generateOutputs(project);
writeFileSync(`${OUT}/index.md`, renderIndex());
for (const { name } of API_PAGES) addOutline(`${OUT}/${name}.md`);
if (app.logger.hasErrors() || app.logger.hasWarnings()) process.exitCode = 1;

function writeEntries(): void {
  rmSync(ENTRIES, { recursive: true, force: true });
  mkdirSync(ENTRIES, { recursive: true });
  for (const page of API_PAGES) {
    const statements = [...readFileSync(`${ROOT}${page.entry}`, 'utf8').matchAll(STATEMENT)];
    const own = statements.filter(([, source = '']) => pageOf(page.entry, source) === page);
    if (own.length === 0)
      throw new Error(`scripts/docs/api-pages.ts: nothing stands on ${page.name}`);
    const text = own.map(([statement]) => statement.replace("'./", "'../../src/")).join('\n');
    writeFileSync(`${ENTRIES}/${page.name}.ts`, `${text}\n`);
  }
  const tsconfig = { extends: '../../tsconfig.build.json', include: ['*.ts'] };
  writeFileSync(`${ENTRIES}/tsconfig.json`, JSON.stringify(tsconfig));
}

/** The page for the exports of an entry point from this source. */
function pageOf(entry: string, source: string): ApiPage | undefined {
  return API_PAGES.find((page) => page.entry === entry && page.sources?.test(source) !== false);
}

/** A docstring may name everything that its reader can import, also names that its own file does not import. */
function linkAcrossPages(all: ProjectReflection): void {
  for (const { comment } of Object.values(all.reflections)) {
    const parts = [comment?.summary ?? [], ...(comment?.blockTags ?? []).map((tag) => tag.content)];
    for (const part of parts.flat()) {
      if (part.kind !== 'inline-tag' || part.target !== undefined) continue;
      const [name = '', member] = part.text.split('.');
      const found = exportedAs(all, name);
      const target = member === undefined ? found : found?.getChildByName(member);
      if (target !== undefined) part.target = target;
    }
  }
}

function exportedAs(all: ProjectReflection, name: string): Reflection | undefined {
  return all.children
    ?.map((page) => page.getChildByName(name))
    .find((found) => found !== undefined);
}

function options(): TypeDocOptions & PluginOptions {
  return {
    entryPoints: API_PAGES.map(({ name }) => `${ENTRIES}/${name}.ts`),
    tsconfig: `${ENTRIES}/tsconfig.json`,
    plugin: ['typedoc-plugin-markdown'],
    out: OUT,
    readme: 'none',
    router: 'module',
    entryFileName: 'index',
    sort: ['alphabetical'],
    excludeInternal: true,
    excludePrivate: true,
    excludeExternals: true,
    disableSources: true,
    skipErrorChecking: true,
    validation: { invalidLink: true, notExported: false },
    hidePageHeader: true,
    hideBreadcrumbs: true,
    useCodeBlocks: true,
    expandParameters: true,
    expandObjects: true,
    useCustomAnchors: true,
    sanitizeComments: true,
    pageTitleTemplates: { module: ({ rawName }) => titleOf(rawName) },
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    classPropertiesFormat: 'table',
    typeAliasPropertiesFormat: 'table',
    typeDeclarationFormat: 'table',
    logLevel: 'Warn',
  };
}

/** Shows names beside the page, not only their kinds. */
function addOutline(file: string): void {
  writeFileSync(file, `---\noutline: [2, 3]\n---\n\n${readFileSync(file, 'utf8')}`);
}

function titleOf(name: string): string {
  const page = API_PAGES.find((one) => one.name === name);
  if (page === undefined) return name;
  return page.from === 'fairloom' ? `fairloom: ${page.title}` : page.from;
}

function renderIndex(): string {
  const rows = API_PAGES.map(
    ({ name, title, from }) => `| [${title}](${name}.md) | \`import { … } from '${from}'\` |`,
  );
  return `${['# API', '', '| Page | Of |', '|---|---|', ...rows].join('\n')}\n`;
}
