/** Usage of the days before today, which a new host does not have. */
import type { Route } from "playwright-core"
import * as SeededRandom from "../../SeededRandom.ts"

/** Responds to a request for usage with rows for all its days. */
export const respond = async (route: Route): Promise<void> => {
  const { searchParams } = new URL(route.request().url())
  const [from, to] = [searchParams.get("from") ?? "", searchParams.get("to") ?? ""]
  const response = await route.fetch()
  const report: object = await response.json()
  await route.fulfill({ response, body: JSON.stringify({ ...report, data: rowsOf(from, to) }) })
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const models = [
  { model: "kinora-draft", plan: "studio", kind: "image", jobs: 60, credits: 0 },
  { model: "kinora-motion", plan: "studio", kind: "video", jobs: 9, credits: 0 },
  { model: "kinora-still", plan: "credits", kind: "image", jobs: 34, credits: 8 }
] as const

const dayMillis = 86_400_000

const rowsOf = (from: string, to: string) => {
  const { happens, next } = SeededRandom.make(Date.parse(from) / dayMillis)
  const days = Array.from(
    { length: (Date.parse(to) - Date.parse(from)) / dayMillis + 1 },
    (_, n) => new Date(Date.parse(from) + n * dayMillis).toISOString().slice(0, 10)
  )
  return days.flatMap((day) =>
    models.map(({ credits, jobs, kind, model, plan }) => {
      const completed = Math.round(jobs * (0.5 + next()))
      return {
        day,
        model,
        plan,
        kind,
        completed,
        failed: happens(0.3) ? 1 : 0,
        cancelled: 0,
        credits: completed * credits
      }
    })
  )
}
