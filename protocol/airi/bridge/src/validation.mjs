// Asks the plugin whether it would take a configuration, by an event that it answers with
// another one. Eventa's events do not say which one they answer, so that one question is
// asked at a time; an answer that names the revision of another one is late.
import { VALIDATE, VALIDATED } from './names.mjs'

// createValidation returns
//   ask(id, request)      a promise of the plugin's response
//   giveUp(id)            nobody waits for that any more
//   emitted(id, payload)  to be told of what the plugin emits
// What a listener throws fails the question.
export function createValidation({ isNamed, emit }) {
  // Those that wait, the one that is being asked first.
  const questions = []

  function ask(id, request) {
    return new Promise((resolve, reject) => {
      questions.push({ id, request, resolve, reject })
      if (questions.length === 1) {
        askFirst()
      }
    })
  }

  function askFirst() {
    const [first] = questions
    if (first === undefined) {
      return
    }
    if (!isNamed(VALIDATE)) {
      end(first, first.resolve, { unheard: true })
      return
    }
    try {
      emit(VALIDATE, first.request)
    }
    catch (error) {
      end(first, first.reject, error)
    }
  }

  // end settles a question, and asks the next one if it was being asked.
  function end(question, settle, value) {
    const place = questions.indexOf(question)
    if (place < 0) {
      return
    }
    questions.splice(place, 1)
    settle(value)
    if (place === 0) {
      askFirst()
    }
  }

  function giveUp(id) {
    const question = questions.find(one => one.id === id)
    if (question !== undefined) {
      end(question, question.reject, new Error('nobody waits for the answer any more'))
    }
  }

  function emitted(id, payload) {
    const [first] = questions
    if (id !== VALIDATED || first === undefined) {
      return
    }
    const revision = payload?.current?.revision
    if (revision === undefined || revision === first.request?.current?.revision) {
      end(first, first.resolve, payload)
    }
  }

  return { ask, giveUp, emitted }
}
