/** The order of test files in which a run ends soonest. */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * A sequencer that runs project after project. In each, the files of `longest` start first; the others follow by their
 * last duration, which is unknown on a fresh checkout.
 */
export abstract class LongestFirst extends BaseSequencer {
  /** Ends of paths, the longest file first. */
  protected abstract readonly longest: ReadonlyArray<string>

  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    return files.toSorted((a, b) =>
      // Workers are reused only while files of one project follow each other.
      a.project.name.localeCompare(b.project.name, "en") ||
      this.#rank(a) - this.#rank(b) ||
      this.#duration(b) - this.#duration(a)
    )
  }

  #rank({ moduleId }: TestSpecification): number {
    const index = this.longest.findIndex((path) => moduleId.endsWith(path))
    return index === -1 ? this.longest.length : index
  }

  #duration(file: TestSpecification): number {
    return this.ctx.cache.getTestSpecificationResult(file)?.duration ?? 0
  }
}
