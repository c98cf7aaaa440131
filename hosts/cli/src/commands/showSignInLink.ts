/** Output of the commands that create sign-in links. */
import type { AdminSignInLink } from "@kinora/http-api/AdminSignInApi"
import * as Output from "../Output.ts"

/** Shows a sign-in link this once. */
export const showSignInLink = (link: AdminSignInLink) =>
  Output.show(
    link,
    `${
      Output.properties([
        ["link", link.url],
        ["role", link.role],
        ["expires", Output.time(link.expires_at)]
      ])
    }\nIt works once and is not shown again.`
  )
