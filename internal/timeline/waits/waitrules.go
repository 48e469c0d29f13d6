package waits

import (
	"github.com/getdwell/dwell/internal/timeline"
	"github.com/getdwell/dwell/recording"
)

// Runtimes that rules are for, by what their frames look like.
const (
	anyRuntime = -1
	jvm        = int(recording.RuntimeJVM)
	python     = int(recording.RuntimePython)
	ruby       = int(recording.RuntimeRuby)
	golang     = int(recording.RuntimeGo)
	node       = int(recording.RuntimeNode)
)

// waitRule determines from a stack what a wait is for. The frames must occur in that order from the innermost on, and
// others may lie between; the first must come before any frame of the application. A frame is a name, which may lack
// its leading packages and may contain one "*". "|" separates alternatives. "NAME in FILE" requires that the source
// file's path ends so or, for machine code, that the module's name begins so. "+" requires the very next frame, "^" the
// innermost frame of a language runtime. The first rule that fits applies.
type waitRule struct {
	code    string
	runtime int
	cause   timeline.Cause
	frames  []string
}

// waitRules are the rules, in order.
func waitRules() []waitRule {
	return append(append(append(jvmRules(), pythonRules()...), rubyRules()...), nativeRules()...)
}

func jvmRules() []waitRule {
	return []waitRule{
		{"jvm-safepoint", jvm, timeline.CauseGC, []string{"SafepointSynchronize::block|VMThread::execute|VMThread::wait_until_executed"}},
		{"jvm-allocation", jvm, timeline.CauseGC, []string{"GCLocker::stall_until_clear|ZPageAllocator::alloc_page_stall|ShenandoahHeap::allocate_memory|ShenandoahControlThread::handle_alloc_failure*"}},
		{"jvm-heap-lock", jvm, timeline.CauseGC, []string{"GenCollectedHeap::mem_allocate_work|G1CollectedHeap::attempt_allocation*|G1CollectedHeap::do_collection_pause|ParallelScavengeHeap::mem_allocate|VM_GC_Operation::doit_prologue|CollectedHeap::satisfy_failed_metadata_allocation"}},

		{"jvm-monitor", jvm, timeline.CauseLock, []string{"ObjectMonitor::enter|ObjectMonitor::EnterI|ObjectMonitor::ReenterI|ObjectSynchronizer::enter"}},
		{"jvm-monitor", jvm, timeline.CauseLock, []string{"_complete_monitor_locking*|monitorenter*|InterpreterRuntime::monitorenter|Runtime1::monitorenter|SharedRuntime::complete_monitor_locking*"}},
		{"jvm-class-init", jvm, timeline.CauseLock, []string{"InstanceKlass::initialize*|InstanceKlass::link_class*|ObjectLocker::*"}},

		{timeline.RuleIdle, jvm, timeline.CauseCondition, []string{"Reference.waitForReferencePendingList|ReferenceQueue.remove*"}},
		{timeline.RuleIdle, jvm, timeline.CauseCondition, []string{"LockSupport.park*|Object.wait*", "ThreadPoolExecutor.getTask|ForkJoinPool.awaitWork|TimerThread.mainLoop|QueuedThreadPool*.idleJobPoll|ReservedThreadExecutor*.reservedWait|EnhancedQueueExecutor$PoolThreadNode.park|SingleThreadEventExecutor.takeTask|SynchronousDispatcher.run|ContainerBackgroundProcessor*.run"}},
		// These run tasks as well: if a task waits for something, they are on its stack, further out.
		{timeline.RuleIdle, jvm, timeline.CauseCondition, []string{"LockSupport.park*|Unsafe.park", "+ForkJoinPool.scan|ForkJoinPool.runWorker|EnhancedQueueExecutor$ThreadBody.run"}},
		{timeline.RuleIdle, jvm, timeline.CauseCondition, []string{"CompileQueue::get|CompileBroker::possibly_add_compiler_threads|GangWorker::*|WorkerThread::run|VMThread::*|ServiceThread::*|MonitorDeflationThread::*|WatcherThread::*|G1ServiceThread::*|ConcurrentGCThread::*|ConcurrentG1*|G1Concurrent*|G1YoungRemSet*|Z*::run_thread|Shenandoah*::run_service|os::signal_wait|AttachListener::*|signal_thread_entry"}},
		{"jvm-join", jvm, timeline.CauseCondition, []string{"Object.wait*|LockSupport.park*", "Thread.join"}},
		{"jvm-references", jvm, timeline.CauseCondition, []string{"Object.wait*", "Reference.waitForReferenceProcessing"}}, // off-heap memory that the collector frees
		{"jvm-sleep", jvm, timeline.CauseSleep, []string{"Thread.sleep*"}},
		{"jvm-sleep", jvm, timeline.CauseSleep, []string{"Object.wait*", "+TimeUnit.timedWait"}},

		{"jvm-lock", jvm, timeline.CauseLock, []string{"LockSupport.park*", "ReentrantLock.lock*|ReentrantLock.tryLock|ReentrantReadWriteLock$ReadLock.*|ReentrantReadWriteLock$WriteLock.*|StampedLock.*"}},
		{"jvm-lock", jvm, timeline.CauseLock, []string{"AbstractQueuedSynchronizer.acquire|AbstractQueuedSynchronizer.acquireQueued|AbstractQueuedSynchronizer.parkAndCheckInterrupt|AbstractQueuedLongSynchronizer.acquire*", "+ConditionObject.await*|AbstractQueuedSynchronizer$ConditionObject.await*"}},

		{"jvm-semaphore", jvm, timeline.CausePool, []string{"Semaphore.acquire*|Semaphore.tryAcquire"}},
		{"jvm-pool", jvm, timeline.CausePool, []string{"LockSupport.park*|Object.wait*", "HikariPool.getConnection|AbstractConnPool*.getPoolEntryBlocking|ConnPoolByRoute.getEntryBlocking|StrictConnPool.lease|LaxConnPool.lease|InternalExecRuntime.acquireEndpoint|GenericObjectPool.borrowObject|GenericKeyedObjectPool.borrowObject|tomcat.jdbc.pool.ConnectionPool.borrowConnection|BasicResourcePool.awaitAvailable|DruidDataSource.takeLast|DruidDataSource.pollLast|agroal.pool.ConnectionPool.handlerFromSharedCache|oracle.ucp*.getConnection|ServerSessionPool.get|ConcurrentPool.get"}},

		{"jvm-barrier", jvm, timeline.CauseCondition, []string{"CountDownLatch.await|CyclicBarrier.await|CyclicBarrier.dowait|Phaser.*|Exchanger.*"}},
		{"jvm-future", jvm, timeline.CauseCondition, []string{"LockSupport.park*|Object.wait*", "FutureTask.get|FutureTask.awaitDone|CompletableFuture.*|CompletableFuture$Signaller.block|ForkJoinTask.*|Future.get|BasicFuture.get|DefaultPromise.await*|AbstractFuture.get"}},
		{timeline.RuleJVMRoom, jvm, timeline.CauseCondition, []string{"LockSupport.park*", "ArrayBlockingQueue.put|ArrayBlockingQueue.offer|LinkedBlockingQueue.put|LinkedBlockingQueue.offer|LinkedBlockingDeque.put*|LinkedBlockingDeque.offer*|SynchronousQueue.put|SynchronousQueue.offer|LinkedTransferQueue.transfer|LinkedTransferQueue.tryTransfer"}},
		{"jvm-queue", jvm, timeline.CauseCondition, []string{"LockSupport.park*", "ArrayBlockingQueue.*|LinkedBlockingQueue.*|LinkedBlockingDeque.*|PriorityBlockingQueue.*|DelayQueue.*|SynchronousQueue.*|LinkedTransferQueue.*"}},
		{"jvm-condition", jvm, timeline.CauseCondition, []string{"AbstractQueuedSynchronizer$ConditionObject.await*|ConditionObject.await*|Object.wait*"}},
		{"jvm-shared", jvm, timeline.CauseCondition, []string{"AbstractQueuedSynchronizer.acquireShared*|AbstractQueuedSynchronizer.tryAcquireShared*|AbstractQueuedSynchronizer.doAcquireShared*"}},
		{"jvm-lock", jvm, timeline.CauseLock, []string{"AbstractQueuedSynchronizer.acquire*|AbstractQueuedSynchronizer.doAcquire*"}},
		{"jvm-park", jvm, timeline.CauseCondition, []string{"LockSupport.park*|Unsafe.park"}},
	}
}

func pythonRules() []waitRule {
	return []waitRule{
		{"py-gil", python, timeline.CauseInterpreterLock, []string{"take_gil|drop_gil"}},
		{"py-gil", python, timeline.CauseInterpreterLock, []string{"pthread_mutex_lock|__pthread_mutex_lock", "+pthread_cond_*", "+PyEval_*|PyGILState_Ensure|* in python|* in libpython"}},
		{"py-gil", python, timeline.CauseInterpreterLock, []string{"pthread_cond_*|pthread_mutex_lock|__pthread_mutex_lock", "+PyEval_*|PyGILState_Ensure|* in python|* in libpython"}},

		{timeline.RuleIdle, python, timeline.CauseCondition, []string{"^_worker in concurrent/futures/thread.py|worker in multiprocessing/pool.py"}},
		{timeline.RuleIdle, python, timeline.CauseCondition, []string{"wait in threading.py", "+handler_thread in waitress/task.py"}},
		{timeline.RuleIdle, python, timeline.CauseCondition, []string{"wait in threading.py", "+get in queue.py", "+run in cheroot/workers/threadpool.py|_process_connections_until_interrupted in cheroot/workers/threadpool.py|run in anyio/_backends/_asyncio.py|_worker in concurrent/futures/thread.py|worker in multiprocessing/pool.py"}},
		{timeline.RuleIdle, python, timeline.CauseCondition, []string{"get in multiprocessing/queues.py|recv_bytes in multiprocessing/connection.py", "worker in multiprocessing/pool.py"}},

		{"py-pool", python, timeline.CausePool, []string{"wait in threading.py|get in queue.py", "_do_get in sqlalchemy/pool/impl.py|_get_conn in urllib3/connectionpool.py|get_connection in redis/connection.py|getconn in psycopg_pool/pool.py|acquire in DBUtils/PooledDB.py|connection in dbutils/pooled_db.py|acquire in cx_Oracle|checkout in pymongo/pool.py|_get_conn in pymongo/pool.py|checkout in pymongo/synchronous/pool.py|wait_for_connection in httpcore/_sync/connection_pool.py"}},
		{"py-semaphore", python, timeline.CausePool, []string{"wait in threading.py", "acquire in threading.py"}},

		{"py-join", python, timeline.CauseCondition, []string{"_wait_for_tstate_lock in threading.py|join in threading.py"}},
		{"py-barrier", python, timeline.CauseCondition, []string{"wait in threading.py", "_wait in threading.py"}},
		{"py-future", python, timeline.CauseCondition, []string{"wait in threading.py", "result in concurrent/futures/_base.py|exception in concurrent/futures/_base.py|wait in concurrent/futures/_base.py"}},
		{"py-event", python, timeline.CauseCondition, []string{"wait in threading.py", "+wait in threading.py"}},
		{timeline.RulePythonRoom, python, timeline.CauseCondition, []string{"wait in threading.py", "+put in queue.py"}},
		{"py-queue", python, timeline.CauseCondition, []string{"wait in threading.py", "+get in queue.py"}},
		{"py-queue", python, timeline.CauseCondition, []string{"* in _queue.cpython"}},
		{"py-condition", python, timeline.CauseCondition, []string{"wait in threading.py"}},

		{"py-lock", python, timeline.CauseLock, []string{"PyThread_acquire_lock_timed|PyThread_acquire_lock|_PyMutex_LockTimed|_PyMutex_Lock|PyMutex_Lock"}},
		{"py-lock", python, timeline.CauseLock, []string{"sem_wait|sem_timedwait|sem_clockwait", "+* in python|* in libpython"}},
	}
}

// rubyRules match the innermost method, which is the one that waits. Between it and a method of the application there
// may be methods written in C that wait for nothing themselves.
func rubyRules() []waitRule {
	return []waitRule{
		{timeline.RuleRubyGVL, ruby, timeline.CauseInterpreterLock, []string{"gvl_acquire*|thread_sched_to_running*|thread_sched_wait_running_turn|blocking_region_end"}},
		{timeline.RuleRubyYield, ruby, timeline.CauseInterpreterLock, []string{"rb_thread_schedule*|gvl_yield|thread_sched_yield"}},
		{"ruby-gvl-guard", ruby, timeline.CauseInterpreterLock, []string{"pthread_mutex_lock|__pthread_mutex_lock", "+rb_native_mutex_lock"}},

		{timeline.RuleIdle, ruby, timeline.CauseCondition, []string{"^Thread::Mutex#sleep", "+Thread::ConditionVariable#wait", "+Puma::ThreadPool#spawn_thread in puma/thread_pool.rb|spawn_thread in puma/thread_pool.rb"}},
		{timeline.RuleIdle, ruby, timeline.CauseCondition, []string{"^Thread::ConditionVariable#wait", "+Puma::ThreadPool#spawn_thread in puma/thread_pool.rb|spawn_thread in puma/thread_pool.rb"}},
		{timeline.RuleIdle, ruby, timeline.CauseCondition, []string{"^Thread::Queue#pop", "+RubyThreadPoolExecutor::Worker#create_worker|create_worker in concurrent/executor/ruby_thread_pool_executor.rb"}},
		{"ruby-pool", ruby, timeline.CausePool, []string{"^Thread::Mutex#sleep|Thread::ConditionVariable#wait|Thread::SizedQueue#pop", "ConnectionPool::TimedStack#pop|ConnectionPool::Queue#poll|ConnectionPool::Queue#wait_poll|Sequel::ThreadedConnectionPool#acquire|Sequel::TimedQueueConnectionPool#acquire|Mongo::Server::ConnectionPool#check_out|pop in connection_pool/timed_stack.rb|wait_poll in connection_pool/queue.rb|poll in connection_pool/queue.rb"}},
		{"ruby-lock", ruby, timeline.CauseLock, []string{"^Thread::Mutex#lock|Thread::Mutex#synchronize|Monitor#enter|Monitor#synchronize"}},
		{timeline.RuleRubyRoom, ruby, timeline.CauseCondition, []string{"^Thread::SizedQueue#push"}},
		{"ruby-queue", ruby, timeline.CauseCondition, []string{"^Thread::Queue#pop|Thread::SizedQueue#pop"}},
		{"ruby-join", ruby, timeline.CauseCondition, []string{"^Thread#join|Thread#value"}},
		{"ruby-condition", ruby, timeline.CauseCondition, []string{"^Thread::ConditionVariable#wait|Thread::Mutex#sleep|Monitor#wait_for_cond"}},
		{"ruby-sleep", ruby, timeline.CauseSleep, []string{"^Kernel#sleep"}},

		{"ruby-lock", ruby, timeline.CauseLock, []string{"rb_mutex_lock|do_mutex_lock"}},
		{timeline.RuleRubyRoom, ruby, timeline.CauseCondition, []string{"rb_szqueue_push"}},
		{"ruby-queue", ruby, timeline.CauseCondition, []string{"queue_do_pop"}},
		{"ruby-condition", ruby, timeline.CauseCondition, []string{"rb_mutex_sleep|rb_condvar_wait"}},
		{"ruby-sleep", ruby, timeline.CauseSleep, []string{"rb_thread_sleep*|rb_thread_wait_for"}},
	}
}

func nativeRules() []waitRule {
	return []waitRule{
		{timeline.RuleIdle, golang, timeline.CauseCondition, []string{"runtime.stopm|runtime.findRunnable|runtime.mcall|runtime.park_m|runtime.notetsleep*|runtime.gcBgMarkWorker"}},
		{timeline.RuleGoPool, golang, timeline.CausePool, []string{"database/sql.(*DB).conn"}},
		{"go-runtime-lock", golang, timeline.CauseLock, []string{"runtime.lock2|runtime.lock|runtime.lockWithRank"}},
		{"v8-gc", node, timeline.CauseGC, []string{"v8::internal::Heap::CollectGarbage|v8::internal::Heap::PerformGarbageCollection|v8::internal::Heap::CollectAllGarbage|v8::internal::Heap::StartIncrementalMarking|v8::internal::Heap::EnsureSweepingCompleted"}},
		{timeline.RuleIdle, node, timeline.CauseCondition, []string{"uv_cond_wait|pthread_cond_*", "worker|node::*PlatformWorkerThread|node::WorkerThreadsTaskRunner::*|v8::platform::*|DelayedTaskScheduler::*"}},
		{"js-atomics", node, timeline.CauseCondition, []string{"v8::internal::FutexEmulation::*|Builtins_AtomicsWait"}},

		{"mutex", anyRuntime, timeline.CauseLock, []string{"__lll_lock_wait*|pthread_mutex_lock|__pthread_mutex_lock|pthread_mutex_timedlock|pthread_mutex_clocklock|__pthread_mutex_lock_full|pthread_spin_lock"}},
		{"rwlock", anyRuntime, timeline.CauseLock, []string{"pthread_rwlock_*|__pthread_rwlock_*"}},
		{"rust-mutex", anyRuntime, timeline.CauseLock, []string{"*Mutex>::lock_contended|*Mutex::lock_contended|*RawMutex>::lock_slow|*RawMutex::lock_slow"}},
		{"rust-rwlock", anyRuntime, timeline.CauseLock, []string{"*RwLock>::read_contended|*RwLock::read_contended|*RwLock>::write_contended|*RwLock::write_contended|*RawRwLock>::lock_*|*RawRwLock::lock_*"}},
		{"join", anyRuntime, timeline.CauseCondition, []string{"pthread_join|pthread_timedjoin_np|pthread_clockjoin_np|__pthread_clockjoin_ex"}},
		{"condition", anyRuntime, timeline.CauseCondition, []string{"pthread_cond_*|__pthread_cond_*|sem_wait|sem_timedwait|sem_clockwait|__new_sem_wait*"}},
	}
}

// syscallRule determines what a wait is for from its system call alone.
type syscallRule struct {
	syscalls []string
	cause    timeline.Cause
}

// syscallRules are for waits without a stack that says more.
var syscallRules = []syscallRule{
	{[]string{"nanosleep", "clock_nanosleep"}, timeline.CauseSleep},
	{timeline.SyncCalls, timeline.CauseDisk},
	{[]string{"flock", "fcntl"}, timeline.CauseLock},
	{[]string{"getrandom", "msgrcv", "msgsnd", "semop", "semtimedop", "mq_timedreceive", "mq_timedsend"}, timeline.CauseIPC},
}
