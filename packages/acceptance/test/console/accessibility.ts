/** Whether a page can be used by everybody, on every screen. */
import { assert } from "@effect/vitest"
import axe from "axe-core"
import { Schema } from "effect"
import { desktop, phone, type Tab, type Theme, type Viewport } from "../../src/console/Tab.ts"

/** Asserts that the open page violates no rule and does not overflow, in both themes and on screens of all sizes. */
export const check = (tab: Tab, name: string): Promise<void> => checkPart(tab, name, "html", looks)

/** Asserts that the open dialog violates no rule in both themes, and does not overflow on the narrowest screen. */
export const checkDialog = (tab: Tab, name: string): Promise<void> =>
  checkPart(tab, `The dialog ${name}`, "dialog[open]", dialogLooks)

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

/** Checks the element that a selector matches. */
const checkPart = async (tab: Tab, name: string, part: string, looks: Looks): Promise<void> => {
  const violations: Array<string> = []
  for (const [viewport, theme, rules] of looks) {
    await tab.show(viewport, theme)
    await tab.evaluate(stillness)
    const found = rules === null ? [] : await violationsOf(tab, part, rules)
    const pixels = await tab.evaluate(`(({ clientWidth, scrollWidth }) => scrollWidth - clientWidth)(
      document.querySelector(${JSON.stringify(part)}))`)
    if (pixels !== 0) found.push(`${String(pixels)} pixels wider than the screen`)
    violations.push(...found.map((violation) => `${name}, ${theme}, ${viewport.width} px: ${violation}`))
  }
  await tab.show(desktop, "light")
  assert.deepStrictEqual(violations, [])
}

/** Waits for the end of transitions, in which colors have values of neither theme. */
const stillness = "new Promise(requestAnimationFrame).then(async () => " +
  "{ while (document.getAnimations().some(({ transitionProperty }) => transitionProperty !== undefined)) " +
  "await new Promise(requestAnimationFrame) })"

/** The rules of WCAG 2.2 AA, and common practice. */
const all = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }

/** Themes differ in colors alone. */
const colors = { type: "rule", values: ["color-contrast", "link-in-text-block"] }

/** The narrowest screen, on which nothing but the width is checked: it has the layout of `phone`. */
const smallPhone: Viewport = { width: 360, height: 640 }

type Looks = ReadonlyArray<readonly [Viewport, Theme, rules: object | null]>

const looks: Looks = [
  [desktop, "light", all],
  [desktop, "dark", colors],
  [phone, "dark", colors],
  [phone, "light", all],
  [smallPhone, "light", null]
]

const dialogLooks: Looks = [
  [desktop, "light", all],
  [desktop, "dark", colors],
  [smallPhone, "light", null]
]

const Violations = Schema.fromJsonString(Schema.Array(Schema.String))

const violationsOf = async (tab: Tab, part: string, runOnly: object): Promise<Array<string>> => {
  // The policy of the page blocks injected scripts, but not what the developer tools evaluate.
  if (await tab.evaluate("typeof axe") === "undefined") await tab.evaluate(axe.source)
  const options = JSON.stringify({ runOnly, resultTypes: ["violations"] })
  const found = await tab.evaluate(`axe.run(${JSON.stringify(part)}, ${options}).then(({ violations }) =>
    JSON.stringify(violations.flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map(({ failureSummary, html }) => [id, html.slice(0, 200), failureSummary].join(" ")))))`)
  return [...Schema.decodeUnknownSync(Violations)(found)]
}
