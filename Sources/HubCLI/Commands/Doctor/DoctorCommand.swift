/// `hub doctor`
enum DoctorCommand {}
