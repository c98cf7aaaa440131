/** A reporter for long runs: one line per finished test file. */
import {
  DefaultReporter,
  type SerializedError,
  type TestModule,
  type TestRunEndReason,
  type TestSpecification
} from "vitest/node"

/**
 * Vitest's default reporter, except that every test file that passes prints exactly one line with its place in the
 * run, its tests and its duration, also without a terminal. Failures and the summary are printed as usual, and followed
 * by the names of the failed tests: a log that keeps only its end shows all of them.
 */
export class ProgressReporter extends DefaultReporter {
  #files = 0
  #finished = 0

  override onTestRunStart(specifications: ReadonlyArray<TestSpecification>): void {
    this.#files = specifications.length
    this.#finished = 0
    super.onTestRunStart(specifications)
  }

  override onTestModuleEnd(testModule: TestModule): void {
    this.#finished += 1
    super.onTestModuleEnd(testModule)
  }

  override onTestRunEnd(
    modules: ReadonlyArray<TestModule>,
    errors: ReadonlyArray<SerializedError>,
    reason: TestRunEndReason
  ): void {
    // Vitest ends the run so if a global setup fails, and prints the error afterwards. The default reporter would print that
    // there are no test files.
    if (this.#files > 0 && modules.length === 0 && errors.length === 0) {
      this.error("No test has run, because the setup of the run failed or the run was stopped.")
      return
    }
    super.onTestRunEnd(modules, errors, reason)
    for (const module of modules) {
      for (const { fullName } of module.children.allTests("failed")) {
        this.log(`✘ ${this.relative(module.moduleId)} > ${fullName}`)
      }
    }
  }

  protected override printTestModule(testModule: TestModule): void {
    if (testModule.state() === "failed") {
      super.printTestModule(testModule)
      return
    }
    const { collectDuration, duration, setupDuration } = testModule.diagnostic()
    const seconds = ((collectDuration + duration + setupDuration) / 1000).toFixed(1)
    const tests = [...testModule.children.allTests()].length
    const place = `[${String(this.#finished).padStart(String(this.#files).length)}/${this.#files}]`
    this.log(`${place} ${seconds.padStart(6)} s  ${this.relative(testModule.moduleId)} (${tests} tests)`)
  }
}
