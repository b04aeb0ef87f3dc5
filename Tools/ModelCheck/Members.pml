/*
 * Who is there: several processes join a store, take turns, leave and are killed, beside processes that want it alone.
 *
 * Each session of a process is one of a member or of an exclusive process. A killed process does nothing more, but the
 * kernel frees its locks one after another, in any order. Of the log there is only its end, whether it is torn, and
 * what the turn record says of it; see Turns. Steps are numbered as in the protocol of turns: T1 to T7 of a turn, J of
 * joining, L of leaving.
 *
 * Only files of members say whether somebody is there. They are asked with shared locks, and locked (exclusively) by
 * their members after the turn record is right. LOCK is never converted: flock(2) lets go of the lock first.
 *
 *   -DOLDER       exclusive processes are of an older version, which knows LOCK only; so a joining member compares the
 *                 turn record with the log, and does what the first does if they differ
 *   -DPLANT_…     a planted fault; see Faults
 */
#ifndef PROCESSES
#define PROCESSES 3
#endif
#ifndef SESSIONS
#define SESSIONS 4
#endif
#define NOBODY 7

#define me (1 << _pid)

/* The locks. */
byte shared;                 /* LOCK: who has it shared, a mask */
byte exclusive = NOBODY;     /* LOCK: who has it exclusively */
byte turn = NOBODY;          /* TURN */
byte files;                  /* members/N: whose are locked, a mask */

/* The store: how many things were appended to its log, and whether something torn follows them. */
byte end;
bool isTorn = true;
/* The turn record. What is there at first is of a former boot. */
byte recordEnd = 9;
byte holder = NOBODY;

/* Who works with the store and is alive: members (a mask), or an exclusive process. */
byte members;
bool isAlone;
byte sessions;

inline mayDie()
{
  if
  :: skip
  :: goto gone
  fi
}

inline append()
{
  assert(!isTorn);
  isTorn = true;
  mayDie();
  atomic { end++; isTorn = false }
}

/* A member that works holds the turn, and nobody has the store alone. */
#define works() turn == _pid && !isAlone

/* T1 to T4 */
inline beginTurn()
{
  if
  :: atomic { turn == NOBODY -> turn = _pid }
  :: goto gone
  fi;
  mayDie();
  takeOver()
}

inline takeOver()
{
  assert(works());
  atomic {
    diedBefore = (holder != NOBODY);
    /* Who did not die left the record right. */
    assert(diedBefore || recordEnd == end && !isTorn)
  };
#ifndef PLANT_HOLDER_NOT_RECORDED
  holder = _pid;
#endif
  mayDie();
  if
  :: diedBefore -> atomic { assert(works()); isTorn = false; diedBefore = false }; mayDie()
  :: else
  fi
}

/* T6 */
inline writeRecord()
{
  atomic { assert(works()); recordEnd = end; holder = NOBODY }
}

/* What an exclusive process and the first member do: Recovery.run(), Recovery.repair(_:) */
inline recover()
{
  assert(members == 0 || members == me);
  isTorn = false;
  mayDie()
}

proctype Process()
{
  bool diedBefore, isFirst;
again:
  if
  :: atomic { sessions < SESSIONS -> sessions++ }; goto join
  :: atomic { sessions < SESSIONS -> sessions++ }; goto takeAlone
  :: goto finished
  fi;

join:
#ifdef PLANT_FIRST_ASKED_OF_LOCK_IN_TURN
  /* The turn first; then LOCK exclusively, and shared if that cannot be had. */
  atomic { turn == NOBODY -> turn = _pid };
  mayDie();
  atomic { isFirst = (shared == 0 && exclusive == NOBODY); if :: isFirst -> exclusive = _pid :: else fi };
  mayDie();
  if
  :: isFirst
  :: else -> atomic { if :: exclusive == NOBODY -> shared = shared | me :: else -> goto gone fi }; mayDie()
  fi;
#else
  /* J: LOCK, shared, without waiting; then the turn. */
  atomic { if :: exclusive == NOBODY -> shared = shared | me :: else -> goto gone fi };
  mayDie();
#ifdef PLANT_FIRST_WITHOUT_TURN
  isFirst = ((files & ~me) == 0);
  mayDie();
#endif
  if
  :: atomic { turn == NOBODY -> turn = _pid }
  :: goto gone
  fi;
  mayDie();
#ifdef PLANT_FIRST_ASKED_OF_LOCK
  /* A conversion lets go of the lock, then tries to get the other; what fails leaves none. */
  shared = shared & ~me;
  mayDie();
  atomic { isFirst = (shared == 0 && exclusive == NOBODY); if :: isFirst -> exclusive = _pid :: else fi };
  mayDie();
  if
  :: isFirst
  :: else -> atomic { if :: exclusive == NOBODY -> shared = shared | me :: else -> goto gone fi }; mayDie()
  fi;
#elif !defined(PLANT_FIRST_WITHOUT_TURN)
  isFirst = ((files & ~me) == 0);
  mayDie();
#endif
#endif
#ifdef PLANT_MEMBER_LOCKED_BEFORE_RECORD
  files = files | me;
  mayDie();
#endif
#ifdef OLDER
  if
  :: !isFirst && holder == NOBODY && (recordEnd != end || isTorn) -> isFirst = true
  :: else
  fi;
#endif
  if
  :: isFirst ->
    recover();
#ifndef PLANT_RECORD_NOT_WRITTEN_ANEW
    /* From now on whoever finds the record without a member does this again. */
    writeRecord();
#endif
    mayDie();
#if defined(PLANT_FIRST_ASKED_OF_LOCK) || defined(PLANT_FIRST_ASKED_OF_LOCK_IN_TURN)
    exclusive = NOBODY;
    mayDie();
    atomic { if :: exclusive == NOBODY -> shared = shared | me :: else -> goto gone fi }
#endif
  :: else ->
    takeOver();
    writeRecord()
  fi;
  mayDie();
  files = files | me;
  mayDie();
  atomic { members = members | me; turn = NOBODY };

  do
  :: end < 4 ->
    mayDie();
    beginTurn();
    append();
    mayDie();
    writeRecord();
    mayDie();
    turn = NOBODY
  :: break
  od;
  mayDie();

  /* L */
  beginTurn();
  if
  :: (files & ~me) == 0 ->
    /* LogWriter.close(), by the last */
    assert(members == me);
    append();
    mayDie()
  :: else
  fi;
  writeRecord();
  goto gone;

takeAlone:
  atomic { if :: exclusive == NOBODY && shared == 0 -> exclusive = _pid :: else -> goto gone fi };
  mayDie();
#if !defined(OLDER) && !defined(PLANT_EXCLUSIVE_DOES_NOT_ASK_FOR_MEMBERS)
  /* A member that is being killed may have lost LOCK before its own file. */
  if
  :: files != 0 -> goto gone
  :: else
  fi;
  mayDie();
#endif
  atomic { assert(members == 0 && !isAlone); isAlone = true };
  recover();
  if
  :: append(); mayDie()
  :: skip
  fi;

gone:
  atomic {
    members = members & ~me;
    if
    :: exclusive == _pid -> isAlone = false
    :: else
    fi;
    diedBefore = false; isFirst = false
  };
  /* Of the locks of a process that ended, or left, none is known to be free before another. */
  do
  :: turn == _pid -> turn = NOBODY
  :: shared & me -> shared = shared & ~me
  :: exclusive == _pid -> exclusive = NOBODY
  :: files & me -> files = files & ~me
  :: else -> break
  od;
  goto again;
finished:
  skip
}

init
{
  atomic {
    byte i;
    do
    :: i < PROCESSES -> run Process(); i++
    :: else -> break
    od
  }
}
