/** Why an override had no say where no policy that it names denied. */
export const notNeeded = "there was nothing for it to override";
