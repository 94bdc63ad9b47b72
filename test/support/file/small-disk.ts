/** A folder on a disk of so many bytes that it has alone. */
import { type Disk, type DiskFile, diskIn } from '../../../src/backends/file/log/disk.ts';

/** See above; its size can be changed at any time. */
export interface SmallDisk extends Disk {
  capacity: number;
  /** Bytes of all files. */
  used(): number;
}

/** Files of a folder that is there, as if the disk under it were so small. */
export function smallDisk(folder: string, capacity: number): SmallDisk {
  const disk = diskIn(folder);
  const used = (): number =>
    disk.list().reduce((sum, name) => sum + (name.startsWith('owner') ? 0 : sizeOf(name)), 0);
  const sizeOf = (name: string): number => disk.size(name) ?? 0;
  const take = (bytes: number): void => {
    if (bytes > 0 && used() + bytes > small.capacity) {
      throw Object.assign(new Error('ENOSPC: on purpose'), { code: 'ENOSPC' });
    }
  };
  const bounded = (name: string, file: DiskFile): DiskFile => ({
    ...file,
    write: (bytes, at) => {
      take(at + bytes.length - sizeOf(name));
      file.write(bytes, at);
    },
  });
  const small: SmallDisk = {
    ...disk,
    capacity,
    used,
    create: async (name, bytes) => {
      take(bytes);
      return bounded(name, await disk.create(name, bytes));
    },
    open: (name) => bounded(name, disk.open(name)),
    free: () => Math.max(0, small.capacity - used()),
  };
  return small;
}
