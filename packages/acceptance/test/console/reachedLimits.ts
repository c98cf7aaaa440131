/** Tests of what pages show when a limit of the account or of the address is reached. */
import { assert } from "@effect/vitest"
import { post } from "../../src/console/ConsoleSeed.ts"
import { answerData, refusal } from "./answers.ts"
import * as Playground from "./playground.ts"
import * as SignIn from "./signIn.ts"
import type { Define } from "./Stand.ts"

/** Failed authentications of an address per minute. */
const attemptsMax = 60

/** Endpoints of an account. */
const endpointsMax = 5

/** Declares the tests. */
export const declare = (test: Define): void => {
  test("shows how long to wait after too many sign-ins", async ({ baseUrl, open, send }) => {
    const { context, page } = await open()
    const address = "198.51.100.7"
    await context.setExtraHTTPHeaders({ "x-forwarded-for": address })
    const headers = { "x-forwarded-for": address, "authorization": "Bearer kin_unknown" }
    const fail = async () => {
      const attempts = Array.from({ length: attemptsMax }, () => send("/v1/account", { headers }))
      return (await Promise.all(attempts)).map(({ status }) => status)
    }
    const signIn = async () => {
      const sent = page.waitForResponse((response) =>
        response.url().endsWith("/console/v1/session") && response.request().method() === "POST"
      )
      await page.getByRole("button", { name: "Sign in" }).click()
      return (await sent).status()
    }
    await page.goto(`${baseUrl}/console/`)
    await page.getByLabel("API key").fill("kin_unknown")
    assert.deepStrictEqual(new Set(await fail()), new Set([401]))
    if (await signIn() === 401) {
      // The minute of the attempts has ended before.
      await fail()
      assert.strictEqual(await signIn(), 429)
    }
    const alert = page.getByRole("alert").filter({ hasText: "Too many attempts" })
    await alert.getByText(/^Try again in \d+ s\.$/).waitFor()
  })

  test("shows that credits, endpoints, keys and the quota are used up", async (stand) => {
    const { baseUrl, admin, accountLink, open, openAccount } = stand
    const account = await openAccount({ lots: [] })
    for (let n = 1; n <= endpointsMax; n++) {
      const url = `https://localhost:9/webhooks/${n}`
      await post(admin, `/admin/v1/accounts/${account.id}/webhook-endpoints`, { url })
    }
    const tab = await open()
    const { page } = tab
    await SignIn.byLink(tab, await accountLink(account.id))

    await page.goto(`${baseUrl}/console/playground`)
    await Playground.fill(page, { model: "Kinora Draft (procedural)", prompt: "A lake" })
    await page.getByRole("radio", { name: "Credits" }).check()
    await page.getByText("Only 0 left", { exact: true }).waitFor()
    await page.getByRole("button", { name: "Generate" }).click()
    await Playground.stage(page).getByRole("alert").getByText("Not enough credits", { exact: true }).waitFor()

    await page.goto(`${baseUrl}/console/webhooks`)
    await page.getByRole("button", { name: "Add endpoint" }).click()
    const form = page.getByRole("dialog")
    await form.getByLabel("URL").fill("https://localhost:9/webhooks/6")
    await form.getByRole("button", { name: "Add endpoint" }).click()
    await form.getByText("You have the maximum number of webhook endpoints", { exact: true }).waitFor()

    await page.goto(`${baseUrl}/console/keys`)
    await answerData(page, refusal(409, "too_many_keys", "100 keys are allowed."), /\/console\/v1\/keys$/)
    await page.getByRole("button", { name: "Create key" }).click()
    await form.getByLabel("Name").fill("Another")
    await form.getByRole("button", { name: "Create key" }).click()
    await form.getByText("You have the maximum number of API keys", { exact: true }).waitFor()

    await answerData(page, async (route) => {
      const response = await route.fetch()
      const text = await response.text()
      const body = text.replace(/("image":\{)[^}]*\}/, "$1\"limit\":200,\"used\":200,\"remaining\":0}")
      await route.fulfill({ response, body })
    }, /\/v1\/account$/)
    await page.goto(`${baseUrl}/console/`)
    await page.getByText("You have used all 200 images for today", { exact: true }).waitFor()
    tab.takeRefusals()
  })
}
