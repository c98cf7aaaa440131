/** A global setup that fails. */
export default (): never => {
  throw new Error("The database did not start. Start it.")
}
