/** Work on several items at a time. */
import { availableParallelism } from "node:os"

/** Works on as many items at a time as there are cores. Returns the results in the order of the items. */
export const inParallel = async <A, B>(
  items: ReadonlyArray<A>,
  work: (item: A) => Promise<B>
): Promise<ReadonlyArray<B>> => {
  const results = new Map<number, B>()
  const queue = items.entries()
  const takeAll = async () => {
    for (const [index, item] of queue) results.set(index, await work(item))
  }
  await Promise.all(Array.from({ length: availableParallelism() }, takeAll))
  return items.flatMap((_, index) => results.get(index) ?? [])
}
