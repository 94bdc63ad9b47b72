/** Every public type of options has its list of keys next to it, and a row in the table of calls. */
import ts from 'typescript';
import { expect, it } from 'vitest';
import { optionCases } from '../support/docs/option-calls.ts';
import { filesBelow, read } from '../support/files.ts';

/** What a type of options is called. */
const CALLED =
  /(Options|Filter|Where|Policies|Timing|Defaults|Patch|Mount|Hooks|LenientPolicy|InQueue)$/;

/** Types that are called so, and no caller writes. */
const OTHERS: Readonly<Record<string, string>> = {
  AttemptSettings: 'what a backend answers with a lease',
  ConnectionOptions: 'options of ioredis, which are its own',
  EdgePolicies: 'what is stored of options',
  BatchOptions: 'of the port',
  OneTimeOptions: 'names of options',
  QueuePatch: 'of the port',
  StoredOptions: 'what is stored of options',
  AskFilter: 'of the port',
  TaskFilter: 'of the port',
  UserPatch: 'of the port',
};

/** Lists that hold the keys of a type which others extend, or that is a union. */
const LISTED_AS: Readonly<Record<string, string>> = {
  EventScheduleOptions: 'AnyEventSchedule',
  LenientPolicy: '{ atLeast: unknown }',
  ScheduleOptions: 'AnySchedule',
  SchedulePolicies: 'CommonScheduleOptions',
  ScheduleTiming: 'CommonScheduleOptions',
  TaskLogOptions: 'StreamReadOptions',
  TemplateTaskOptions: 'CommonScheduleOptions',
};

/** Rows of the table that have another name. */
const TESTED_BY: Readonly<Record<string, string>> = {
  CommonEventOptions: 'EventScheduleOptions',
  CommonScheduleOptions: 'ScheduleOptions',
  ScheduleTiming: 'ScheduleOptions',
  TemplateTaskOptions: 'ScheduleOptions',
};

const ENTRIES = filesBelow('src', /^src\/[^/]+\.ts$/);

/** Types that the entry points give away and that are called like options. */
const TYPES = [...new Set(ENTRIES.flatMap(exportedNames))]
  .filter((name) => /^[A-Z]/.test(name) && CALLED.test(name) && OTHERS[name] === undefined)
  .sort();

function exportedNames(file: string): readonly string[] {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest);
  return source.statements.flatMap((statement) => {
    const clause = ts.isExportDeclaration(statement) ? statement.exportClause : undefined;
    if (clause === undefined || !ts.isNamedExports(clause)) return [];
    return clause.elements.map(({ name }) => name.text);
  });
}

/** Types of which a list is made: `keysOf<PageOptions>()`. */
const LISTED = new Set(
  filesBelow('src', /\.ts$/).flatMap((file) =>
    [...read(file).matchAll(/keysOf<\s*([^>]+?)\s*(?:&[^>]*)?(?:<[^>]*>)?\s*>\(\)/g)].map(
      ([, type = '']) => type,
    ),
  ),
);

// F26
it('the entry points have types of options', () => {
  expect(TYPES.length).toBeGreaterThan(55);
  expect(TYPES).toContain('EnqueueOptions');
});

// F26
it.each(TYPES)('%s has a list of its keys', (type) => {
  expect([...LISTED]).toContain(LISTED_AS[type] ?? type);
});

it.each(TYPES)(
  // F26
  '%s has calls in the table, which test/engine/client/options.test.ts makes',
  (type) => {
    const row = optionCases({} as never)[TESTED_BY[type] ?? type];
    expect(Object.keys(row?.calls ?? {})).not.toEqual([]);
  },
);

// F26
it('knows no type that is gone', () => {
  const names = new Set(ENTRIES.flatMap(exportedNames));
  const told = [OTHERS, LISTED_AS, TESTED_BY].flatMap((table) => Object.keys(table));
  expect(told.filter((name) => !names.has(name))).toEqual([]);
});
