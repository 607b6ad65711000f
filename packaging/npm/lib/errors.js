// What can go wrong between a program and `ahp`.

/** `ahp` gave no answer, or refused the question. */
export class AhpError extends Error {
  get name() {
    return this.constructor.name;
  }
}

/** There is no `ahp`, it ended, or it speaks another protocol. */
export class AhpUnavailable extends AhpError {}

/** The event or a parameter is not what `ahp` expects; the message says what is. */
export class BadEvent extends AhpError {}

/** No answer came in time; a new child is started for the next question. */
export class Timeout extends AhpError {}
