/** Before a layer that vitest runs by itself: the programs that its tests drive. */
import type { TestProject } from 'vitest/node';
import { LAYERS, programsOf } from '../layers.ts';
import { provide } from './programs.ts';

export function setup({ name }: TestProject): void {
  provide(programsOf(LAYERS.filter((layer) => layer.name === name)));
}
