/** The order in which vitest takes the files of all layers. */
import { basename } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of more than half a minute: begun last, one of them would run alone at the end. */
const LONG = ['contract/redis.test.ts', 'model/model.test.ts'];

/**
 * Those that take long, then layer by layer in the order of the projects: files of one that share
 * their modules must come one after the other.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const layers = this.ctx.projects.map(({ name }) => name);
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const at = LONG.findIndex((file) => moduleId.endsWith(`/test/${file}`));
      return at === -1 ? LONG.length + layers.indexOf(project.name) : at;
    };
    return files.toSorted(
      (a, b) => rank(a) - rank(b) || basename(a.moduleId).localeCompare(basename(b.moduleId)),
    );
  }
}
