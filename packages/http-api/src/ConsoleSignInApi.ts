/** The part of the API of the console for sign-ins with an identity provider or through a proxy. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { browse } from "./internal/consoleOperation.ts"
import { list, nullable, object, optionalParameter, parameter, text } from "./internal/fields.ts"
import * as Policy from "./RequestPolicy.ts"

/** An identity provider on the sign-in page. */
export const SignInProvider = object("SignInProvider", "An identity provider, with which people sign in.", {
  id: text("The id of the provider."),
  name: text("Its name, for people."),
  url: text("The path of this server at which a sign-in with the provider begins.")
})

/** How people can sign in besides links and API keys. */
export const SignInMethods = object("SignInMethods", "How people can sign in besides links and API keys.", {
  providers: list(SignInProvider, "The identity providers."),
  proxy_user: nullable(
    Schema.String,
    "The e-mail address of the person whom the proxy in front has authenticated, which `POST /console/v1/session` with " +
      "`proxy` accepts. `null` without such a proxy."
  )
})

/** A response that leads the browser to another page. */
const Redirect = HttpApiSchema.WithHeaders(HttpApiSchema.Empty(303), {
  "location": parameter("The URL of the next page."),
  "set-cookie": parameter("The cookie of the sign-in, or that of the session.")
})

const provider = { provider: parameter("The id of the provider.") }

/** Signs in with an identity provider. */
export class ConsoleSignIn extends HttpApiGroup.make("signIn").add(
  browse(
    Policy.open,
    "List the ways to sign in",
    "Identity providers, and the person whom a proxy in front has authenticated.",
    ["unavailable"],
    (error) => HttpApiEndpoint.get("listSignInMethods", "/sign-in", { success: SignInMethods, error })
  ),
  browse(
    Policy.open,
    "Sign in with an identity provider",
    "For browsers. Leads to the page of the provider, and sets a cookie that binds the sign-in to the browser for 10 " +
      "minutes. If the provider does not respond, leads to the sign-in page.",
    ["not_found", "unavailable"],
    (error) =>
      HttpApiEndpoint.get("beginSignIn", "/sign-in/oidc/:provider", {
        params: provider,
        query: {
          return_to: optionalParameter("The path of the page of the console to open afterwards. Default `/console/`.")
        },
        success: Redirect,
        error
      })
  ),
  browse(
    Policy.open,
    "Complete a sign-in with an identity provider",
    "The redirect URI to register with the provider, which sends the browser here with `code` and `state`, or with " +
      "`error`. Starts a session, sets its cookie, and leads to the page of the console; if the sign-in fails, to the " +
      "sign-in page with the reason in the fragment. Failed sign-ins count against the limit of the address.",
    ["not_found", "unavailable"],
    (error) =>
      HttpApiEndpoint.get("completeSignIn", "/sign-in/oidc/:provider/callback", {
        params: provider,
        success: Redirect,
        error
      })
  )
).annotate(OpenApi.Description, "Sign in with an identity provider, or through a proxy.") {}
