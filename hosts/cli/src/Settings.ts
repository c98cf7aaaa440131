/** Flags that every command has. */
import { Flag, GlobalFlag } from "effect/cli"

/** Prints JSON instead of text. */
export const Json = GlobalFlag.Setting("json")({
  flag: Flag.Boolean("json").pipe(
    Flag.withDescription("Print the response as JSON, for programs"),
    Flag.withDefault(false)
  )
})

/** URL of the service. */
export const Url = GlobalFlag.Setting("url")({
  flag: Flag.String("url").pipe(
    Flag.withDescription(
      "URL of the service. Default: KINORA_URL, or the one of the profile, or http://127.0.0.1:4747"
    ),
    Flag.optional
  )
})

/** Name of the profile. */
export const Profile = GlobalFlag.Setting("profile")({
  flag: Flag.String("profile").pipe(
    Flag.withDescription("Profile of the profiles file. Default: KINORA_PROFILE, or default"),
    Flag.optional
  )
})

/** Confirms what cannot be undone. */
export const Yes = GlobalFlag.Setting("yes")({
  flag: Flag.Boolean("yes").pipe(
    Flag.withAlias("y"),
    Flag.withDescription("Do not ask before what cannot be undone"),
    Flag.withDefault(false)
  )
})
