/**
 * The arrows of docs/architecture.md. They point down only; a type import counts as an import.
 * scripts/rooms.json lists the rooms of src/, the highest first: a file imports from its own room and
 * from those below. What else a room may not touch has a rule of its own here.
 */
const rooms = require('./scripts/rooms.json');

/** The files of a room, without the rooms inside it. */
const filesOf = ({ room }) => (room === '' ? 'src/[^/]+$' : `src/${room}/[^/]+$`);

const floors = rooms.map((room, at) => ({
  name: `${room.room || 'entry'}-looks-down-only`,
  comment: `Of src/${room.room}, ${room.holds}: it sees the rooms below it in scripts/rooms.json.`,
  severity: 'error',
  from: { path: `^${filesOf(room)}` },
  to: { path: '^src/', pathNot: rooms.slice(at).map((below) => `^${filesOf(below)}`) },
}));

module.exports = {
  forbidden: [
    ...floors,
    {
      name: 'every-folder-has-a-floor',
      comment: 'A folder that scripts/rooms.json does not list is held to nothing.',
      severity: 'error',
      from: { path: '^src/', pathNot: rooms.map((room) => `^${filesOf(room)}`) },
      to: {},
    },
    {
      name: 'no-circular',
      comment: 'A cycle has no order to read it in, type imports included.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'A file that nothing reaches is dead.',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: [
          '\\.d\\.ts$',
          '^src/(backend|config|conformance|file|http|index|metrics|redis|testing|tracing|types)\\.ts$',
        ],
      },
      to: {},
    },
    {
      name: 'no-unresolvable',
      comment: 'An import that does not resolve would slip past every rule below.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'base-imports-nothing',
      comment:
        'Base is the bottom: no other folder, no package, no node: builtin, but for what is taken once of Node.',
      severity: 'error',
      from: { path: '^src/base/', pathNot: '^src/base/(globals|async-scope)\\.ts$' },
      to: { pathNot: '^src/base/' },
    },
    {
      name: 'domain-is-pure',
      comment: 'No clock, randomness or I/O: only itself and base, no node: builtin either.',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { pathNot: '^src/(domain|base)/' },
    },
    {
      name: 'workflow-is-pure',
      comment: 'The builder makes values; running them is the worker’s.',
      severity: 'error',
      from: { path: '^src/(workflow|graph)/' },
      to: { pathNot: '^src/(workflow|graph|domain|base)/' },
    },
    {
      name: 'schedule-is-pure',
      comment: 'When a schedule fires is arithmetic over Intl and croner: no clock, no engine.',
      severity: 'error',
      from: { path: '^src/schedules/timing/' },
      to: { pathNot: '^src/(schedules/timing|domain|base)/|(^|node_modules/)croner(/|$)' },
    },
    {
      name: 'croner-is-for-one-file',
      comment: 'It reads patterns on a calendar without clock changes; what those mean is ours.',
      severity: 'error',
      from: { pathNot: '^src/schedules/timing/cron-pattern\\.ts$' },
      to: { path: '(^|node_modules/)croner(/|$)' },
    },
    {
      name: 'backends-know-only-the-port',
      comment:
        'A backend never sees another backend, the engine or an entry point. The file backend is the embedded one behind a log; copying is between backends.',
      severity: 'error',
      from: { path: '^src/backends/([^/]+)/', pathNot: '^src/backends/(copy|file)/' },
      to: { path: '^src/', pathNot: ['^src/(domain|base)/', '^src/backends/$1/'] },
    },
    {
      name: 'the-file-backend-is-the-embedded-one',
      comment: 'It keeps what the memory backend decides, and knows no other.',
      severity: 'error',
      from: { path: '^src/backends/file/' },
      to: { path: '^src/', pathNot: '^src/(domain|base|backends/(file|memory))/' },
    },
    {
      name: 'copies-know-backends',
      comment: 'What copies from one place to another knows both, and nothing above them.',
      severity: 'error',
      from: { path: '^src/backends/copy/' },
      to: { path: '^src/', pathNot: '^src/(domain|base|backends)/' },
    },
    {
      name: 'only-the-redis-backend-knows-redis',
      comment: 'ioredis is an optional peer; without it everything else must load.',
      severity: 'error',
      from: { pathNot: '^src/backends/redis/' },
      to: { path: '(^|node_modules/)(ioredis|iovalkey|redis|@redis/[^/]+)(/|$)' },
    },
    {
      name: 'embedded-backends-have-no-packages',
      comment: 'Without a server it runs with no dependency at all.',
      severity: 'error',
      from: { path: '^src/backends/(file|memory)/' },
      to: { pathNot: '^src/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'only-hosts-name-a-backend',
      comment:
        'Client and worker know the port; which backend it is, an entry point, cli, config or testing says.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/([^/]+$|backends/|cli/|config/|testing/)' },
      to: { path: '^src/backends/(copy|file|memory|redis)/' },
    },
    {
      name: 'no-package-above-the-port',
      comment:
        'What runs tasks needs Node and nothing else; croner, yaml, commander and peers have their one file or room.',
      severity: 'error',
      from: {
        path: '^src/(attempt|client|codec|core|enqueue|events|graph|handlers|logging|runs|schedules|worker|workflow)/',
        pathNot: '^src/schedules/timing/',
      },
      to: { pathNot: '^src/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'metrics-look-at-the-client',
      comment: 'Figures are read off the client and its events, as any user could.',
      severity: 'error',
      from: { path: '^src/metrics/' },
      to: { path: '^src/(worker|attempt|runs|schedules|handlers|enqueue)/' },
    },
    {
      name: 'testing-is-embedded',
      comment:
        'fairloom/testing is the memory backend on a manual clock; no files, no Redis, no cli, no vitest.',
      severity: 'error',
      from: { path: '^src/(testing|conformance)/' },
      to: { path: '^src/(cli|config|metrics|backends/(copy|file|redis))/' },
    },
    {
      name: 'testing-has-no-packages',
      comment: 'The application that tests brings the runner.',
      severity: 'error',
      from: { path: '^src/(testing|conformance)/' },
      to: { pathNot: '^src/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'commander-is-for-the-cli',
      comment: 'The library parses no command line.',
      severity: 'error',
      from: { pathNot: '^src/cli/' },
      to: { path: '(^|node_modules/)commander(/|$)' },
    },
    {
      name: 'yaml-is-for-files-of-configuration',
      comment: 'An application without a file of configuration loads no parser.',
      severity: 'error',
      from: { pathNot: '^src/config/(yaml-file|to-yaml)\\.ts$' },
      to: { path: '(^|node_modules/)yaml(/|$)' },
    },
    {
      name: 'entry-points-only-reexport',
      comment:
        'An entry point names things of folders; it uses no package. (A tidy test reads it too.)',
      severity: 'error',
      from: { path: '^src/[^/]+\\.ts$' },
      to: { pathNot: '^src/([^/]+/|(backend|types)\\.ts$)' },
    },
    {
      name: 'entry-points-are-for-outsiders',
      comment: 'Inside, a file imports the file that it means; only the cli stands outside.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(cli/|index\\.ts$)' },
      to: { path: '^src/[^/]+\\.ts$' },
    },
    {
      name: 'nothing-imports-tests',
      comment: 'What is shipped does not know how it is tested.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|scripts|bench|examples)/' },
    },
    {
      name: 'no-dev-dependencies',
      comment: 'A development dependency is not there at the user. (ioredis is also a peer.)',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['npm-peer', 'npm-optional'],
        pathNot: '(^|node_modules/)(ioredis|@types/node)(/|$)',
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.build.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types'] },
  },
};
