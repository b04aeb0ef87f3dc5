/*
 * SharedSync: members of a store wait for the disk after their turns, and one of them synchronizes for all.
 *
 * A commit is one frame; SEGMENT frames are a segment. Members die after any step, and a synchronization fails: then
 * the system forgets what it owed the disk of that segment, and tells nobody but the member that asked for it. Beside
 * each step stands its number: T1 to T8 and R as in LogWriter+Turns.swift, S1 to S8 as in SharedSynchronization.swift.
 *
 * What is on disk stays there. So it is enough to look, when a commit is acknowledged, whether all frames up to it are:
 * a power cut at any later moment leaves them.
 *
 *   -DMEMBERS=n -DCOMMITS=n -DDEATHS=n -DFAILURES=n
 *   -DPLANT_…     a planted fault; see Faults
 */
#ifndef MEMBERS
#define MEMBERS 3
#endif
#ifndef COMMITS
#define COMMITS 4
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef FAILURES
#define FAILURES 1
#endif
#define SEGMENT 2
#define FRAMES 8
#define NONE 15

#define bit(number) (1 << (number))
#define frames(count) (bit(count) - 1)
#define segmentOf(end) (((end) - 1) / SEGMENT)
#define segment(number) (3 << ((number) * SEGMENT))
#define max(a, b) ((a) > (b) -> (a) : (b))

/* The log: frames that are there, that the system owes the disk, that are on disk. */
byte present, dirty, durable;

/* TURN. */
byte turn = NONE, turnMember = NONE, recordEnd, recordDurable;
/* members/SYNC. */
byte lock = NONE, syncMember = NONE, syncEnd, turnEnd;

byte commits, deaths, failures;

inline mayDie()
{
  if
  :: skip
  :: deaths < DEATHS -> deaths++; goto died
  fi
}

/* Owes the disk again what may have been forgotten. */
inline writeAgain(from) { dirty = dirty | (present & ~frames(from)) }

/* S6 */
inline synchronize(number)
{
  if
  :: atomic { durable = durable | (dirty & segment(number)); dirty = dirty & ~segment(number); mayDie() }
  :: atomic { failures < FAILURES -> failures++; dirty = dirty & ~segment(number); goto died }
  fi
}

/* S1 */
inline take() { atomic { lock == NONE -> lock = _pid } }
/* S8 */
inline letGo() { lock = NONE }

/* S1 to S8 in a turn, in which `end` is the log's. */
inline synchronizeInTurn()
{
#ifndef PLANT_SEAL_WITHOUT_SHARED_LOCK
  take();
  if
  :: syncMember == NONE && syncEnd >= end
  :: else ->
    hasFailed = (syncMember != NONE);
    atomic { syncMember = _pid; mayDie() };
    if
    :: hasFailed -> atomic { writeAgain(syncEnd); mayDie() }
    :: else
    fi;
    synchronize(segmentOf(end));
    atomic { syncEnd = end; syncMember = NONE; hasFailed = false; mayDie() }
  fi;
  letGo();
#else
  synchronize(segmentOf(end));
#endif
  known = max(known, end)
}

/* R */
inline repair()
{
  d_step {
    end = FRAMES;
    do
    :: end > 0 && !(present & bit(end - 1)) -> end--
    :: else -> break
    od
  };
#ifndef PLANT_REPAIR_WITHOUT_SHARED_LOCK
  take();
  atomic { syncMember = _pid; mayDie() };
#endif
  atomic { writeAgain(recordDurable); i = 0; mayDie() };
  do
  :: i < FRAMES / SEGMENT -> synchronize(i); i++
  :: else -> break
  od;
#ifndef PLANT_REPAIR_WITHOUT_SHARED_LOCK
  atomic { syncEnd = max(syncEnd, end); syncMember = NONE; mayDie() };
  letGo();
#endif
  atomic {
    i = 0; known = max(known, end);
    /* Something torn may follow: the next segment. */
    end = ((end + SEGMENT - 1) / SEGMENT) * SEGMENT
  }
}

/* T1 to T4 */
inline beginTurn()
{
  atomic { turn == NONE -> turn = _pid; holder = turnMember };
  atomic { turnMember = _pid; mayDie() };
  if
  :: holder != NONE -> repair()
  :: else -> end = recordEnd
  fi;
  known = max(known, recordDurable);
  holder = NONE
}

/* T6 and T7 */
inline endTurn()
{
  atomic { recordEnd = end; recordDurable = known; mayDie() };
  atomic { turnEnd = end; mayDie() };
  atomic { turnMember = NONE; mayDie() };
  turn = NONE
}

proctype Member()
{
  byte end, own, known, holder = NONE, target, i;
  bool hasFailed;
  do
  :: atomic { commits < COMMITS -> commits++ };
    beginTurn();
    /* T5: what is full is sealed, on disk, before the next segment begins. */
    if
    :: end > 0 && end % SEGMENT == 0 && (present & bit(end - 1)) -> synchronizeInTurn()
    :: else
    fi;
    if
    :: end >= FRAMES -> endTurn(); break
    :: else
    fi;
    atomic { present = present | bit(end); dirty = dirty | bit(end); end++; own = end; mayDie() };
    endTurn();
    end = 0;
    /* T8 */
waiting:
#ifndef PLANT_ACKNOWLEDGED_BEFORE_SYNC
    /* S1: a member that waits looks without the lock. */
    if
    :: atomic { syncEnd >= own -> goto acknowledged }
    :: skip
    fi;
    take();
    if
    :: syncMember == NONE && syncEnd >= own -> letGo()
#ifdef PLANT_FAILURE_NOT_LOOKED_FOR
    :: else ->
#else
#ifdef PLANT_REPAIRED_OUT_OF_TURN
    :: syncMember != NONE ->
      atomic { syncMember = _pid; dirty = dirty | (present & frames(own) & ~frames(syncEnd)); mayDie() };
      synchronize(segmentOf(own));
      atomic { syncEnd = own; syncMember = NONE; mayDie() };
      letGo();
      goto waiting
#else
    :: syncMember != NONE ->
      letGo();
      beginTurn();
      if
      :: end > 0 && (present & bit(end - 1)) -> synchronizeInTurn()
      :: else
      fi;
      endTurn();
      end = 0;
      goto waiting
#endif
    :: syncMember == NONE && syncEnd < own ->
#endif
      /* S4 */
#ifndef PLANT_MEMBER_NOT_WRITTEN
      atomic { syncMember = _pid; mayDie() };
#endif
      /* S5 */
#ifdef PLANT_END_WRITTEN_BEFORE_SYNC
      atomic { syncEnd = max(syncEnd, own); mayDie() };
#endif
      atomic { target = (turnEnd > own && segmentOf(turnEnd) == segmentOf(own) -> turnEnd : own) };
      synchronize(segmentOf(own));
#ifdef PLANT_TURN_END_READ_LATE
      atomic { target = (turnEnd > own && segmentOf(turnEnd) == segmentOf(own) -> turnEnd : own) };
#endif
      /* S7 */
      atomic { syncEnd = max(syncEnd, target); syncMember = NONE; target = 0; mayDie() };
      letGo()
    fi;
#endif
acknowledged:
    atomic {
      known = max(known, own);
      /* All up to the commit is on disk. */
      assert(!(present & frames(own) & ~durable));
      own = 0
    };
    /* What is claimed holds. */
    assert(syncMember != NONE || !(present & frames(syncEnd) & ~durable))
  :: atomic { commits >= COMMITS -> break }
  od;
  goto ended;
died:
  /* The system lets go of its locks; what it wrote stays. */
  atomic {
    if :: lock == _pid -> lock = NONE :: else fi;
    if :: turn == _pid -> turn = NONE :: else fi
  };
ended:
  skip
}

init
{
  byte n;
  atomic {
    do
    :: n < MEMBERS -> run Member(); n++
    :: else -> break
    od
  }
}
